//go:build fleet

package fleettest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/pawl-dev/pawl/internal/runner/fleet"
)

// An engine that only speaks TLS, and only with those it knows, is reached with what
// the environment says, and not without.
func TestTLS(t *testing.T) {
	cert, pool, path := selfSigned(t)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{cert}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert, NextProtos: []string{"h2"},
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
		e, err := fleet.Dial(ctx, l.Addr().String(), "pawl", quiet)
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

// selfSigned returns a certificate of this machine that signs itself, and where it
// was written to: .crt and .key.
func selfSigned(t *testing.T) (tls.Certificate, *x509.CertPool, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	plan := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, plan, plan, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "test")
	pool := x509.NewCertPool()
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	pool.AppendCertsFromPEM(public)
	for name, text := range map[string][]byte{".crt": public, ".key": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})} {
		if err := os.WriteFile(path+name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool, path
}
