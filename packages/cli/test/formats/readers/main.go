// Prints what a Go library reads in a .env file: readers godotenv|compose-go FILE. Readers.long.test.ts builds and runs it.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	compose "github.com/compose-spec/compose-go/v2/dotenv"
	"github.com/joho/godotenv"
)

var read = map[string]func(...string) (map[string]string, error){
	"godotenv":   godotenv.Read,
	"compose-go": compose.Read,
}

func main() {
	found, err := read[os.Args[1]](os.Args[2])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(found)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
