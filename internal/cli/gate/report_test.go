package gate

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/mission/gate"
	"github.com/pawl-dev/pawl/internal/mission/gate/dsse"
	"github.com/pawl-dev/pawl/internal/mission/gate/experiment"
)

// TestSignedStatement signs with a key in a file, as --sign-key does, and verifies the signature.
func TestSignedStatement(t *testing.T) {
	t.Parallel()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	f := gateFlags{signKey: filepath.Join(t.TempDir(), "key.pem")}
	if err := os.WriteFile(f.signKey, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	r := report{Proof: gate.Proof{Candidate: "c0ffee", Result: experiment.Result{Verdict: experiment.Proven}}}
	if r.signer, err = f.signer(); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := r.write(&out, "intoto"); err != nil {
		t.Fatal(err)
	}
	var e dsse.Envelope
	if err := json.Unmarshal([]byte(out.String()), &e); err != nil {
		t.Fatal(err)
	}
	plain, err := r.Statement(r.criteria)
	if err != nil {
		t.Fatal(err)
	}
	signed := dsse.Encode(e.PayloadType, plain)
	if string(e.Payload) != string(plain) || !strings.Contains(string(plain), `"result": "PASSED"`) || !ed25519.Verify(public, signed, e.Signatures[0].Sig) {
		t.Errorf("%s does not verify", out.String())
	}
}
