//go:build fleet

package fleet

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/pawl-dev/pawl/fleet/runner"
)

// An engine that only speaks TLS, and only with those who show a certificate, is reached with what
// the environment says, and not without.
func TestTLS(t *testing.T) { //nolint:paralleltest // it sets environment variables
	cert, path := selfSigned(t)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{cert}, ClientAuth: tls.RequireAnyClientCert, NextProtos: []string{"h2"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	engine := need(t, "PAWL_TEST_TEMPORAL")
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go pass(c, 0, []string{engine})
		}
	}()
	health := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		e, err := runner.Dial(ctx, l.Addr().String(), "pawl", quiet)
		if err != nil {
			return err
		}
		defer e.Close()
		_, err = e.CheckHealth(ctx, &client.CheckHealthRequest{})
		return err
	}
	for _, c := range []struct {
		name, value string
		want        bool
	}{
		{"TEMPORAL_ADDRESS", "127.0.0.1:1", false}, // that is in the configuration
		{"TEMPORAL_TLS", "true", false},
		{"TEMPORAL_TLS_SERVER_CA_CERT_PATH", path + ".crt", false},
		{"TEMPORAL_TLS_CLIENT_CERT_PATH", path + ".crt", false},
		{"TEMPORAL_TLS_CLIENT_KEY_PATH", path + ".key", true},
		{"TEMPORAL_TLS_CLIENT_KEY_PATH", path + ".gone", false},
	} {
		t.Setenv(c.name, c.value)
		if err := health(); (err == nil) != c.want {
			t.Errorf("with %s=%s too: %v", c.name, c.value, err)
		}
	}
}

// selfSigned returns a self-signed certificate for localhost, and where it
// was written to: .crt and .key.
func selfSigned(t *testing.T) (tls.Certificate, string) {
	t.Helper()
	server := httptest.NewTLSServer(nil)
	server.Close()
	cert := server.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "test")
	for name, block := range map[string]*pem.Block{".crt": {Type: "CERTIFICATE", Bytes: cert.Certificate[0]}, ".key": {Type: "PRIVATE KEY", Bytes: key}} {
		if err := os.WriteFile(path+name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, path
}
