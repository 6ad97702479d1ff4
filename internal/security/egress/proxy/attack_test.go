package proxy

import (
	"strings"
	"testing"
)

// attack is something that a hostile command sends.
type attack struct {
	name    string // the row of the corpus, and what it does
	defense string // what stops it: a name of package weak
	hosts   []string
	head    string
	sni     string // of the handshake after CONNECT
	then    string // or what is sent instead of one
	bad     string // what would be in the trace if it got through
	want    string // what the answer says
}

var ok = []string{"ok.test", "ok.test:80"}

var attacks = []attack{
	{"E1 a name that carries data", "egress.hosts", ok, connect("secret.evil.test:443"), "secret.evil.test", "", "look secret.evil.test", "403 pawl: secret.evil.test is not one of the hosts that this command may reach: ok.test, ok.test:80\nAsk the user to allow secret.evil.test."},
	{"E1 a name that carries data, plain", "egress.hosts", ok, get("http://secret.evil.test:443/"), "", "", "look secret.evil.test", "403 pawl: secret.evil.test is not one of"},

	{"E2 the host as a beginning", "egress.hosts", ok, connect("ok.test.evil.test:443"), "ok.test.evil.test", "", "hit 93.184.216.10 ok.test.evil.test", "403 "},
	{"E2 the host as an end", "egress.hosts", []string{"*.x.test"}, connect("evilx.test:443"), "evilx.test", "", "hit 93.184.216.10 evilx.test", "403 "},
	{"E2 the domain itself", "egress.hosts", []string{"*.x.test"}, connect("x.test:443"), "x.test", "", "hit 93.184.216.10 x.test", "403 "},
	{"E2 below a host", "egress.hosts", []string{"x.test"}, connect("a.x.test:443"), "a.x.test", "", "hit 93.184.216.10 a.x.test", "403 "},
	{"E2 another port", "egress.hosts", []string{"ok.test", "x.test:8443"}, connect("ok.test:8443"), "ok.test", "", "dial 93.184.216.10:8443", "403 pawl: port 8443 of ok.test is not one of the ports that this command may reach: ok.test, x.test:8443\n"},
	{"E2 the usual port where another was named", "egress.hosts", []string{"x.test:8443"}, connect("x.test:443"), "x.test", "", "dial 93.184.216.10:443", "403 pawl: port 443 of x.test"},
	{"E2 an address that all names do not cover", "egress.hosts", []string{"*"}, connect("93.184.216.10:443"), "", "", "dial 93.184.216.10:443", "403 pawl: 93.184.216.10 is not one of"},
	{"E2 another host in the handshake", "egress.sni", ok, connect("ok.test:443"), "evil.test", "", "hit 93.184.216.10 evil.test", "handshake: EOF"},
	{"E2 a host above in the handshake", "egress.sni", []string{"a.x.test"}, connect("a.x.test:443"), "x.test", "", "hit 93.184.216.10 x.test", "handshake: EOF"},
	{"E2 no host in the handshake", "egress.sni", ok, connect("ok.test:443"), "", "", "hit 93.184.216.10  ", "handshake: EOF"},
	{"E2 a host in the handshake with an address", "egress.sni", []string{"93.184.216.10"}, connect("93.184.216.10:443"), "evil.test", "", "hit 93.184.216.10 evil.test", "handshake: EOF"},

	{"E4 an empty list", "egress.hosts", []string{}, connect("ok.test:443"), "ok.test", "", "hit 93.184.216.10 ok.test", "403 pawl: ok.test is not one of the hosts that this command may reach: none\n"},
	{"E4 no list", "egress.hosts", nil, connect("ok.test:443"), "ok.test", "", "hit 93.184.216.10 ok.test", "403 "},

	{"E5 metadata", "egress.hosts,egress.private", ok, connect("169.254.169.254:443"), "", "", "dial 169.254.169.254:443", "403 "},
	{"E5 metadata that was named", "egress.private", []string{"169.254.169.254"}, connect("169.254.169.254:443"), "", "", "dial 169.254.169.254:443", "403 pawl: 169.254.169.254 is a cloud metadata service\nOnly public addresses"},
	{"E5 metadata, plain", "egress.private", []string{"169.254.169.254:80"}, get("http://169.254.169.254/latest/meta-data/"), "", "", "hit 169.254.169.254 plain", "403 pawl: 169.254.169.254 is a cloud metadata"},
	{"E5 metadata by a name", "egress.private", []string{"*.test", "cloud.test"}, connect("cloud.test:443"), "cloud.test", "", "dial 169.254.169.254:443", "403 pawl: cloud.test resolves to 169.254.169.254, a cloud metadata"},
	{"E5 a private address that was named", "egress.private", []string{"10.0.0.5"}, connect("10.0.0.5:443"), "", "", "dial 10.0.0.5:443", "403 pawl: 10.0.0.5 is a private address"},
	{"E5 a private address by a name", "egress.private", []string{"inside.test"}, connect("inside.test:443"), "inside.test", "", "dial 10.0.0.5:443", "403 pawl: inside.test resolves to 10.0.0.5, a private address"},
	{"E5 a private address among public ones", "egress.private", []string{"half.test"}, connect("half.test:443"), "half.test", "", "dial 93.184.216.10:443", "403 pawl: half.test resolves to 10.0.0.5"},
	{"E5 the machine itself", "egress.private", []string{"127.0.0.1"}, connect("127.0.0.1:443"), "", "", "dial 127.0.0.1:443", "403 pawl: 127.0.0.1 is a loopback address"},

	{"E6 an answer that flips", "egress.pin", []string{"flip.test"}, connect("flip.test:443"), "flip.test", "", "dial 127.0.0.1:443", "200 hello from flip.test"},

	{"E7 plain where TLS is meant", "egress.plain", []string{"ok.test"}, get("http://ok.test/"), "", "", "hit 93.184.216.10 plain", "403 pawl: plain http is not allowed: use https://ok.test/\nIf http is required, ask the user to allow ok.test:80.\n"},
	{"E7 plain at the port of TLS", "egress.plain", ok, get("http://ok.test:443/"), "", "", "dial 93.184.216.10:443", "403 pawl: plain http is not allowed"},
	{"E7 plain at another port that was named", "egress.plain", []string{"x.test:8443"}, get("http://x.test:8443/"), "", "", "dial 93.184.216.10:8443", "403 pawl: plain http is not allowed"},
	{"E7 plain in a tunnel", "egress.sni", ok, connect("ok.test:80"), "", "GET /inside HTTP/1.0\r\nHost: evil.test\r\n\r\n", "hit 93.184.216.10 plain evil.test/inside", "tunnel: "},
	{"E7 an escaped slash", "egress.encoding", ok, get("http://ok.test/a%2fb"), "", "", "/a%2fb", "400 pawl: the request is malformed: the path contains an escaped '/'"},
	{"E7 an escaped slash, in capitals", "egress.encoding", ok, get("http://ok.test/a%2Fb"), "", "", "/a%2Fb", "400 "},
	{"E7 an escaped dot", "egress.encoding", ok, get("http://ok.test/a/%2e%2e/b"), "", "", "/a/%2e%2e/b", "400 "},
	{"E7 dots", "egress.encoding", ok, get("http://ok.test/a/../b"), "", "", "/a/../b", "400 "},
	{"E7 an escaped backslash", "egress.encoding", ok, get("http://ok.test/a%5cb"), "", "", "/a%5cb", "400 "},
	{"E7 an escaped escape", "egress.encoding", ok, get("http://ok.test/a%252fb"), "", "", "/a%252fb", "400 "},
	{"E7 an escaped NUL", "egress.encoding", ok, get("http://ok.test/a%00b"), "", "", "/a%00b", "400 "},
	{"E7 an escaped line feed", "egress.encoding", ok, get("http://ok.test/a%0ab"), "", "", "/a%0ab", "400 "},
	{"E7 an escaped DEL", "egress.encoding", ok, get("http://ok.test/a%7fb"), "", "", "/a%7fb", "400 "},

	{"E15 a provider by its domain", "egress.vendors", []string{"*.openai.com"}, connect("api.openai.com:443"), "api.openai.com", "", "hit 93.184.216.10 api.openai.com", "403 pawl: api.openai.com accepts uploads with any account, so a wildcard does not cover it\nAsk the user to allow api.openai.com by name"},
	{"E15 a provider by all names", "egress.vendors", []string{"*"}, connect("api.anthropic.com:443"), "api.anthropic.com", "", "hit 93.184.216.10 api.anthropic.com", "403 "},
	{"E15 below a provider", "egress.vendors", []string{"*.openai.com", "api.openai.com"}, connect("eu.api.openai.com:443"), "eu.api.openai.com", "", "hit 93.184.216.10 eu.api.openai.com", "403 "},
	{"E15 a region of Google", "egress.vendors", []string{"*.googleapis.com"}, connect("europe-west1-aiplatform.googleapis.com:443"), "europe-west1-aiplatform.googleapis.com", "", "hit ", "403 "},
	{"E15 a region of Amazon", "egress.vendors", []string{"*.amazonaws.com"}, connect("bedrock-runtime.us-east-1.amazonaws.com:443"), "bedrock-runtime.us-east-1.amazonaws.com", "", "hit ", "403 "},
	{"E15 a provider in the handshake", "egress.sni", []string{"*"}, connect("evil.test:443"), "api.anthropic.com", "", "hit 93.184.216.10 api.anthropic.com", "handshake: EOF"},
}

// through makes an attack and returns what it got, and whether it got through.
func (a attack) through(t *testing.T) (answer string, reported []Decision, through bool) {
	t.Helper()
	w := newTestEnv(t, a.hosts...)
	answer = w.ask(a.head, a.sni, a.then)
	trace := strings.Join(w.trace(), "\n")
	t.Log(trace)
	return answer, w.reported(), strings.Contains(trace, a.bad)
}

func TestAttacks(t *testing.T) {
	t.Parallel()
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			answer, reported, through := a.through(t)
			if through {
				t.Errorf("it got through: %s", a.bad)
			}
			if !strings.HasPrefix(answer, a.want) {
				t.Errorf("got %q, want %q", answer, a.want)
			}
			if len(reported) != 1 || reported[0].Allowed != strings.HasPrefix(a.want, "200 ") {
				t.Errorf("told: %+v", reported)
			}
		})
	}
}
