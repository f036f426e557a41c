// Mounts what a SecretProviderClass names: the Secrets Store CSI driver's own call, and its own way of writing what comes back.
// Build it beside this file:
//
//	go mod init csi-driver && go get sigs.k8s.io/secrets-store-csi-driver/provider/v1alpha1@v1.6.0 && go mod tidy
//	go build -o ~/bin/csi-driver-mount .
package main

import (
	"context"
	"fmt"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"sigs.k8s.io/secrets-store-csi-driver/pkg/util/fileutil"
	"sigs.k8s.io/secrets-store-csi-driver/provider/v1alpha1"
)

func mount(socket, attributes, folder string) error {
	connection, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	provider := v1alpha1.NewCSIDriverProviderClient(connection)
	request := &v1alpha1.MountRequest{Attributes: attributes, Secrets: "{}", TargetPath: folder, Permission: "420"}
	response, err := provider.Mount(context.Background(), request)
	if err != nil {
		return err
	}
	return fileutil.WritePayloads(folder, response.GetFiles())
}

func main() {
	if err := mount(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
