package redact

import (
	"strings"
	"testing"
)

// The parts of made-up credentials. Whole ones would be found by those who scan
// this repository.
const (
	some20 = "a8Kd93jQz0LmP4vXyW7b"
	some36 = "a8Kd93jQz0LmP4vXyW7bR2tU6nHsE1cG5iFo"
	some40 = some36 + "D9qZ"
	some64 = "4f9c2b7ae1d083564f9c2b7ae1d083564f9c2b7ae1d083564f9c2b7ae1d08356"
	keyRow = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
)

func pem(label string, rows ...string) string {
	return "-----BEGIN " + label + "-----\n" + strings.Join(rows, "\n") + "\n-----END " + label + "-----"
}

// found are texts and what happens to them.
var found = []struct{ in, want string }{
	{"token=ghp_" + some36, "token=[redacted: github token]"},
	{"gho_" + some36 + " ghs_" + some36, "[redacted: github token] [redacted: github token]"},
	{"(github_pat_" + some20 + "22_" + some40 + ")", "([redacted: github token])"},
	{`{"out":"a\nghp_` + some36 + `"}`, `{"out":"a\n[redacted: github token]"}`},
	{"glpat-" + some20 + ".", "[redacted: gitlab token]."},
	{"xoxb-123456789012-" + some20, "[redacted: slack token]"},
	{"sk-" + some36, "[redacted: api key]"},
	{`"a\nsk-` + some36 + `"`, `"a\n[redacted: api key]"`},
	{"sk-proj-" + some40 + "_-" + some20, "[redacted: openai key]"},
	{"x-api-key: sk-ant-api03-" + some40 + "-AA", "x-api-key: [redacted: anthropic key]"},
	{"sk-or-v1-" + some64, "[redacted: openrouter key]"},
	{"key=AIza" + some36[:35] + "&x", "key=[redacted: google key]&x"},
	{"ya29." + some36, "[redacted: google token]"},
	{"sk_live_" + some20 + " rk_live_" + some20, "[redacted: stripe key] [redacted: stripe key]"},
	{"//registry.npmjs.org/:_authToken=npm_" + some36, "//registry.npmjs.org/:_authToken=[redacted: npm token]"},
	{"pypi-AgEIcHlwaS5vcmc" + some64, "[redacted: pypi token]"},
	{"hf_" + some36, "[redacted: hugging face token]"},
	{"gsk_" + some40 + some20, "[redacted: groq key]"},
	{"AKIA" + "Z7QW3MXK5TPLRB2V", "[redacted: aws key id]"},
	{"aws_secret_access_key = " + some40, "aws_secret_access_key = [redacted: aws secret key]"},
	{`"SecretAccessKey": "` + some40 + `",`, `"SecretAccessKey": "[redacted: aws secret key]",`},
	{`{\"SecretAccessKey\":\"` + some40 + `\"}`, `{\"SecretAccessKey\":\"[redacted: aws secret key]\"}`},
	{"export AWS_SESSION_TOKEN=" + strings.Repeat(some40, 3), "export AWS_SESSION_TOKEN=[redacted: aws session token]"},
	{"Authorization: Bearer " + some20 + "\n", "Authorization: Bearer [redacted: token]\n"},
	{`"authorization": "Basic ` + some20 + `="`, `"authorization": "Basic [redacted: token]"`},
	{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0." + some36, "[redacted: json web token]"},
	{pem("PRIVATE KEY", keyRow, keyRow, "ab=="), "[redacted: private key]"},
	{"x\n" + pem("OPENSSH PRIVATE KEY", keyRow) + "\ny", "x\n[redacted: private key]\ny"},
	{pem("RSA PRIVATE KEY", "Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC,"+some64[:32], "", keyRow), "[redacted: private key]"},
	{pem("PGP PRIVATE KEY BLOCK", "", keyRow, "=aB3d"), "[redacted: private key]"},
	{`{"private_key":"-----BEGIN PRIVATE KEY-----\n` + keyRow + `\nab==\n-----END PRIVATE KEY-----\n"}`, `{"private_key":"[redacted: private key]\n"}`},
	{"     1\t-----BEGIN PRIVATE KEY-----\n     2\t" + keyRow + "\n     3\t-----END PRIVATE KEY-----\n", "     1\t[redacted: private key]\n"},
	{"-----BEGIN PRIVATE KEY-----\n" + keyRow + "\n" + keyRow + "\n(cut)", "[redacted: private key]\n(cut)"},
	{"postgres://pawl:" + some20 + "@db:5432/x", "postgres://pawl:[redacted: password]@db:5432/x"},
	{"https://ghp_" + some36 + ":x-oauth@github.com", "https://[redacted: github token]:[redacted: password]@github.com"},
}

// passed are texts that look like a credential and are none.
var passed = []string{
	"ghp_" + strings.Repeat("x", 36),
	"ghp_short", "github_pat_example", "highp_precision",
	"glpat-", "glpat-xxxxxxxxxxxxxxxxxxxx",
	"xoxb-your-token-goes-in-here-please",
	"sk-", "sk-some-long-class-name-of-a-stylesheet-that-goes-on", "task-" + some36, "disk-" + some36,
	"sk_live_", "sk_test_key", "AIza", "AIzaShort", "XAIza" + some36[:35], "AIza" + some36,
	"npm_config_registry_is_a_long_name_of_a_variable", "npm_" + some40, "pypi-package-name",
	"AKIA", "AKIAXXXXXXXXXXXXXXXX", "AKIAZ7QW3MXK5TPLRB2VX", "KAKIAZ7QW3MXK5TPLRB2V",
	"aws_secret_access_key = os.environ['AWS_SECRET_ACCESS_KEY']", "aws_secret_access_key: the secret key", "SecretAccessKey string",
	"SecretAccessKey: " + strings.Repeat("a", 40), "AWS_SECRET_ACCESS_KEY=$SECRET",
	`req.Header.Set("Authorization", "Bearer "+token)`, "Authorization: Bearer YOUR_ACCESS_TOKEN_HERE", "Authorization: Bearer $TOKEN",
	"authorization basics are explained in chapter12 of the book",
	"eyJhbGciOiJIUzI1NiJ9", "eyJhbGciOiJIUzI1NiJ9.payload.signature", "keyJson.eyJ.x",
	"-----BEGIN PRIVATE KEY-----", "-----BEGIN CERTIFICATE-----\n" + keyRow + "\n-----END CERTIFICATE-----", pem("PRIVATE KEY", "..."),
	"if strings.HasPrefix(s, \"-----BEGIN PRIVATE KEY-----\") { return decodeThePrivateKeyOfTheServerForThisTest(s) }",
	"http://user:pass@example.com/", "postgres://user:password@localhost/db", "https://$USER:$PASS@host/", "http://a:b@c", "postgres://postgres:postgres@db",
	"https://host:8080/path@2x", "see http://example.com: foo@bar.test", "mailto:user:x@y", "git@github.com:org/repo.git", "http://[::1]:80/",
	"da39a3ee5e6b4b0d3255bfef95601890afd80709", "sha256:" + some64, "01JD3V5M8Q0000000000000000",
}

func TestShapes(t *testing.T) {
	t.Parallel()
	var r *Redactor
	for _, c := range found {
		if got := r.Redact(c.in); got != c.want {
			t.Errorf("%q:\n got %q\nwant %q", c.in, got, c.want)
		}
		if got := r.Redact(c.want); got != c.want {
			t.Errorf("%q is masked again: %q", c.want, got)
		}
	}
	for _, s := range passed {
		if got := r.Redact(s); got != s {
			t.Errorf("%q is masked: %q", s, got)
		}
	}
}

// TestEveryShape: each of them has an example.
func TestEveryShape(t *testing.T) {
	t.Parallel()
	for _, s := range shapes {
		for _, c := range found {
			if strings.Contains(c.want, s.mask) {
				goto next
			}
		}
		t.Errorf("there is no example of %s", s.mask)
	next:
	}
}
