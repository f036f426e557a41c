// Reads one field of an environment by the Vault client of GitLab's runner, unchanged. Build it beside this file:
//
//	go mod init gitlab-runner-vault && go get gitlab.com/gitlab-org/gitlab-runner/helpers/vault/service@fc1f1862bd91
//	go build -o ~/bin/gitlab-runner-vault .
package main

import (
	"fmt"
	"os"

	"gitlab.com/gitlab-org/gitlab-runner/helpers/vault/auth_methods"
	"gitlab.com/gitlab-org/gitlab-runner/helpers/vault/service"
)

var env = os.Getenv

// A job's `secrets: vault`, as the runner has it from GitLab.
type secret struct{}

func (secret) AuthName() string { return "jwt" }
func (secret) AuthPath() string { return "jwt" }
func (secret) AuthData() auth_methods.Data {
	return auth_methods.Data{"role": env("ROLE"), "jwt": env("JWT")}
}
func (secret) EngineName() string  { return "kv-v2" }
func (secret) EnginePath() string  { return "webshop" }
func (secret) SecretPath() string  { return env("ENVIRONMENT") }
func (secret) SecretField() string { return "DATABASE_URL" }

func main() {
	vault, err := service.NewVault(env("VAULT_ADDR"), env("NS"), secret{})
	if err != nil {
		fmt.Println("login:", err)
		os.Exit(1)
	}
	value, err := vault.GetField(secret{}, secret{})
	fmt.Println("read:", value, err)
	fmt.Println("write:", vault.Put(secret{}, secret{}, map[string]any{"A": "b"}))
}
