// Reads an environment by the Vault provider of External Secrets or, with WEBHOOK, by its webhook provider, both unchanged.
// Build it beside this file:
//
//	go mod init external-secrets && go get github.com/external-secrets/external-secrets/pkg/provider/vault@v0.19.2
//	go build -o ~/bin/external-secrets-client .
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"time"

	esv1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	esmeta "github.com/external-secrets/external-secrets/apis/meta/v1"
	"github.com/external-secrets/external-secrets/pkg/provider/vault"
	"github.com/external-secrets/external-secrets/pkg/provider/webhook"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func ptr[T any](v T) *T { return &v }

func main() {
	ctx := context.Background()
	env := os.Getenv
	kube := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjects(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name: "coffer-key", Namespace: "shop", Labels: map[string]string{"external-secrets.io/type": "webhook"},
		},
		Data: map[string][]byte{"key": []byte(env("KEY")), "jwt": []byte(env("JWT"))},
	}).Build()
	ref := esmeta.SecretKeySelector{Name: "coffer-key", Key: "key"}
	jwt := esmeta.SecretKeySelector{Name: "coffer-key", Key: "jwt"}
	auth := &esv1.VaultAuth{}
	switch env("METHOD") {
	case "token":
		auth.TokenSecretRef = &ref
	case "jwt":
		auth.Jwt = &esv1.VaultJwtAuth{Path: "jwt", Role: env("ROLE"), SecretRef: &jwt}
	case "kubernetes":
		auth.Kubernetes = &esv1.VaultKubernetesAuth{Path: "kubernetes", Role: env("ROLE"), SecretRef: &jwt}
	default:
		auth.AppRole = &esv1.VaultAppRole{Path: "approle", RoleID: env("ROLE"), SecretRef: ref}
	}
	spec := &esv1.VaultProvider{Server: env("VAULT_ADDR"), Path: ptr("webshop"), Version: esv1.VaultKVStoreV2, Auth: auth}
	if ns := env("NS"); ns != "" {
		spec.Namespace = ptr(ns)
	}
	store := &esv1.SecretStore{
		TypeMeta:   metav1.TypeMeta{Kind: "SecretStore"},
		ObjectMeta: metav1.ObjectMeta{Name: "coffer", Namespace: "shop"},
		Spec:       esv1.SecretStoreSpec{Provider: &esv1.SecretStoreProvider{Vault: spec}},
	}
	var provider esv1.Provider = &vault.Provider{NewVaultClient: vault.NewVaultClient}
	if text := env("WEBHOOK"); text != "" {
		hook := &esv1.WebhookProvider{}
		if err := json.Unmarshal([]byte(text), hook); err != nil {
			fmt.Println("webhook:", err)
			os.Exit(1)
		}
		store.Spec.Provider = &esv1.SecretStoreProvider{Webhook: hook}
		provider = &webhook.Provider{}
	}
	client, err := provider.NewClient(ctx, store, kube, "shop")
	if err != nil {
		fmt.Println("client:", err)
		os.Exit(1)
	}
	v, err := client.Validate()
	fmt.Println("validate:", v, err)
	key := env("ENVIRONMENT")
	if key == "" {
		key = "prod"
	}
	if env("ONLY") == "one" {
		one, err := client.GetSecret(ctx, esv1.ExternalSecretDataRemoteRef{Key: key})
		fmt.Printf("one: %q %v\n", one, err)
		return
	}
	m, err := client.GetSecretMap(ctx, esv1.ExternalSecretDataRemoteRef{Key: key})
	fmt.Printf("map: %q %v\n", m, err)
	if env("ONLY") != "" {
		return
	}
	one, err := client.GetSecret(ctx, esv1.ExternalSecretDataRemoteRef{Key: key, Property: "DATABASE_URL"})
	fmt.Printf("one: %q %v\n", one, err)
	none, err := client.GetSecret(ctx, esv1.ExternalSecretDataRemoteRef{Key: key, Property: "NOPE"})
	fmt.Printf("no such key: %q %v\n", none, err)
	all, err := client.GetAllSecrets(ctx, esv1.ExternalSecretFind{Name: &esv1.FindName{RegExp: "^(prod|staging)$"}})
	fmt.Printf("find: %q %v\n", all, err)
	_, err = client.GetSecretMap(ctx, esv1.ExternalSecretDataRemoteRef{Key: "nope"})
	fmt.Println("no such environment:", err, err == esv1.NoSecretErr)
	_, err = client.GetSecretMap(ctx, esv1.ExternalSecretDataRemoteRef{Key: key, Version: "1"})
	fmt.Println("version:", err)
	tagged, err := client.GetAllSecrets(ctx, esv1.ExternalSecretFind{Tags: map[string]string{"team": "shop"}})
	fmt.Println("by tag:", tagged, err)
	if env("BETWEEN") != "" {
		fmt.Println("waiting")
		bufio.NewReader(os.Stdin).ReadString('\n')
		m, err := client.GetSecretMap(ctx, esv1.ExternalSecretDataRemoteRef{Key: key})
		fmt.Printf("again: %q %v\n", m, err)
	}
	if n, _ := strconv.Atoi(env("READS")); n > 0 {
		start := time.Now()
		for i := 0; i < n; i++ {
			if _, err := client.GetSecretMap(ctx, esv1.ExternalSecretDataRemoteRef{Key: key}); err != nil {
				fmt.Println("read", i, err)
				os.Exit(1)
			}
		}
		fmt.Println("reads:", n, time.Since(start).Round(time.Millisecond))
	}
	written := &corev1.Secret{Data: map[string][]byte{"A": []byte("b")}}
	for _, name := range []string{key, "nope"} {
		fmt.Println("push "+name+":", client.PushSecret(ctx, written, push{name}))
	}
	fmt.Println("delete:", client.DeleteSecret(ctx, push{key}))
	fmt.Println("close:", client.Close(ctx))
}

type push struct{ name string }

func (p push) GetRemoteKey() string             { return p.name }
func (push) GetProperty() string                { return "" }
func (push) GetSecretKey() string               { return "" }
func (push) GetMetadata() *apiextensionsv1.JSON { return nil }
