//go:build tools

// Package sanity pins csi-sanity, the conformance suite of the Container Storage Interface.
package sanity

import _ "github.com/kubernetes-csi/csi-test/v5/cmd/csi-sanity"
