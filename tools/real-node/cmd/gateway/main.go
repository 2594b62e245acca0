// Stands in for an ActiveGate: responds to its probes over TLS, with the certificate that the operator mounts.
package main

import (
	"fmt"
	"log"
	"net/http"
)

const certificates = "/var/lib/dynatrace/secrets/tls/"

func main() {
	http.HandleFunc("/rest/", func(response http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(response, `"RUNNING"`)
	})
	log.Print("listening on port 9999")
	log.Fatal(http.ListenAndServeTLS(":9999", certificates+"tls.crt", certificates+"tls.key", nil))
}
