// An application for tests: responds to every request with the name of its pod.
package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
)

func main() {
	http.HandleFunc("/", func(response http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(response, os.Getenv("HOSTNAME"))
	})
	log.Fatal(http.ListenAndServe(":8080", nil))
}
