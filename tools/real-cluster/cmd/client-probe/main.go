// Command client-probe uses an API server as operators written in Go do: typed
// clients, shared informers and leader election of client-go, unmodified. It
// prints one line per observation, so that a test can compare two servers.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "path of the kubeconfig")
	namespace := flag.String("namespace", "default", "an empty namespace to work in")
	contentType := flag.String("content-type", "application/json", "content type of requests")
	timeout := flag.Duration("timeout", time.Minute, "overall timeout")
	flag.Parse()

	ctx, cancel := context.WithTimeout(context.Background(), *timeout)
	defer cancel()
	if err := run(ctx, *kubeconfig, *namespace, *contentType); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, kubeconfig, namespace, contentType string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(withContentType(config, contentType))
	if err != nil {
		return err
	}
	version, err := client.Discovery().ServerVersion()
	if err != nil {
		return fmt.Errorf("server version: %w", err)
	}
	fmt.Printf("server %s.%s\n", version.Major, version.Minor)
	if err := followObjects(ctx, client, namespace); err != nil {
		return err
	}
	return electLeaders(ctx, client, namespace)
}

// withContentType requests responses in the same format and accepts JSON where
// the server supports nothing else, as controllers do.
func withContentType(config *rest.Config, contentType string) *rest.Config {
	changed := rest.CopyConfig(config)
	changed.ContentType = contentType
	changed.AcceptContentTypes = contentType + ",application/json"
	// The default limit of five requests a second would dominate the run time.
	changed.QPS = 100
	changed.Burst = 100
	return changed
}
