// An application for tests: responds to every request with the name of its pod, and crashes when it is asked to.
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
	http.HandleFunc("/crash", func(_ http.ResponseWriter, _ *http.Request) {
		log.Fatal("asked to crash")
	})
	log.Fatal(http.ListenAndServe(":8080", nil))
}
