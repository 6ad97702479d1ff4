package proxy

import (
	"bufio"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// malformedRequests are read in two ways by somebody, and what the answer says.
var malformedRequests = map[string]string{
	// framing
	"POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n":    "both Content-Length and Transfer-Encoding",
	"POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n":             "given twice",
	"POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nContent-Length: 1, 1\r\n\r\n":                               "not a number",
	"POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nContent-Length: +1\r\n\r\n":                                 "not a number",
	"POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nContent-Length: -1\r\n\r\n":                                 "not a number",
	"POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nContent-Length: 01\r\n\r\n":                                 "not a number",
	"POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nContent-Length: 99999999999999999999\r\n\r\n":               "not a number",
	"POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nContent-Length:\r\n\r\n":                                    "not a number",
	"POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nTransfer-Encoding: gzip, chunked\r\n\r\n":                   "not chunked",
	"POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nTransfer-Encoding: \x0bchunked\r\n\r\n":                     "control character",
	"POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n": "given twice",
	"POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nTransfer-Encoding : chunked\r\n\r\n":                        "a space around it",
	"CONNECT ok.test:443 HTTP/1.1\r\nHost: ok.test\r\nContent-Length: 5\r\n\r\n":                                   "CONNECT must not have a body",
	"CONNECT ok.test:443 HTTP/1.1\r\nHost: ok.test\r\nTransfer-Encoding: chunked\r\n\r\n":                          "CONNECT must not have a body",
	// lines
	"GET http://ok.test/ HTTP/1.1\nHost: ok.test\n\n":                        "bare line feed",
	"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\n\r\n":                    "bare line feed",
	"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\n":                    "bare line feed",
	"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nX: a\rb\r\n\r\n":       "control character",
	"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nX: a\x00b\r\n\r\n":     "control character",
	"GET http://ok.test/\x00 HTTP/1.1\r\nHost: ok.test\r\n\r\n":              "control character",
	"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nX: a\r\n b\r\n\r\n":    "a space around it",
	"GET http://ok.test/ HTTP/1.1\r\n Host: ok.test\r\n\r\n":                 "a space around it",
	"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nno colon\r\n\r\n":      "has no name",
	"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n: empty\r\n\r\n":       "has no name",
	"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nN\u00e4me: x\r\n\r\n":  "has no name",
	"\r\nGET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n":              "starts with an empty line",
	"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nHost: ok.test\r\n\r\n": "2 Host fields",
	"GET http://ok.test/ HTTP/1.1\r\n\r\n":                                   "0 Host fields",
	"CONNECT ok.test:443 HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n":             "2 Host fields",
	"GET  http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n":                 "not a method, a target and a version",
	"GET http://ok.test/ b HTTP/1.1\r\nHost: ok.test\r\n\r\n":                "not a method, a target and a version",
	"GET\thttp://ok.test/\tHTTP/1.1\r\nHost: ok.test\r\n\r\n":                "not a method, a target and a version",
	"GET http://ok.test/\r\nHost: ok.test\r\n\r\n":                           "not a method, a target and a version",
	"GET http://ok.test/ HTTP/1.0\r\nHost: ok.test\r\n\r\n":                  "speaks HTTP/1.1",
	"GET http://ok.test/ HTTP/2.0\r\nHost: ok.test\r\n\r\n":                  "speaks HTTP/1.1",
	"GET http://ok.test/ http/1.1\r\nHost: ok.test\r\n\r\n":                  "speaks HTTP/1.1",
	"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n":                                       "speaks HTTP/1.1",
	"G@T http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n":                  "invalid method",
	"\x16\x03\x01\x00\x05hello\r\n\r\n":                                      "control character",
	"\x05\x01\x00\n":                                                         "control character", // SOCKS
	// targets
	get("/"):                                     "use http://host/path or CONNECT",
	get("*"):                                     "use http://host/path or CONNECT",
	get("https://ok.test/"):                      "use http://host/path or CONNECT",
	get("HTTP://ok.test/"):                       "use http://host/path or CONNECT",
	get("ftp://ok.test/"):                        "use http://host/path or CONNECT",
	get("file:///etc/passwd"):                    "use http://host/path or CONNECT",
	get("http:ok.test/"):                         "use http://host/path or CONNECT",
	get("http://"):                               "host: it is empty",
	get("http:///path"):                          "host: it is empty",
	get("http://u:p@ok.test/"):                   "a user name or password",
	get("http://ok.test@evil.test/"):             "a user name or password",
	get("http://ok.test#@evil.test/"):            "a fragment",
	get("http://ok.test/#x"):                     "a fragment",
	get("http://ok.test\\.evil.test/"):           "a backslash",
	get("http://ok.test/a\\b"):                   "a backslash",
	get("http://ok.test./"):                      "write the host as ok.test",
	get("http://%6fk.test/"):                     "an escape",
	get("http://ok.test:/"):                      "invalid port",
	get("http://ok.test:080/"):                   "invalid port",
	get("http://ok.test:0/"):                     "invalid port",
	get("http://ok.test:65616/"):                 "invalid port",
	get("http://ok.test:80:80/"):                 "not host:port",
	get("http://[ok.test]/"):                     "brackets are only allowed around IPv6",
	get("http://::1/"):                           "not host:port",
	get("http://[::ffff:93.184.216.10]/"):        "write the host as 93.184.216.10",
	get("http://[0:0::1]/"):                      "write the host as ::1",
	get("http://0x5d.184.216.10/"):               "unusual spelling",
	get("http://1572395018/"):                    "unusual spelling",
	get("http://\u24dek.test/"):                  "write the host as ok.test",
	get("http://ok.test/\u00e4"):                 "must be escaped",
	get("http://ok.test/%"):                      "ends in an escape",
	get("http://ok.test/%zz"):                    "broken escape",
	connect("ok.test"):                           "not host:port",
	connect("ok.test:"):                          "invalid port",
	connect("ok.test:0443"):                      "invalid port",
	connect("ok.test:+443"):                      "invalid port",
	connect("ok.test:https"):                     "invalid port",
	connect("ok.test.:443"):                      "write the host as ok.test",
	connect("http://ok.test:443"):                "not host:port",
	connect("ok.test:443/"):                      "invalid port",
	connect("u@ok.test:443"):                     "not a host name",
	connect("ok.test\u3002:443"):                 "write the host as ok.test",
	connect("[::1%lo]:443"):                      "a zone",
	connect("::1:443"):                           "not host:port",
	connect(":443"):                              "it is empty",
	connect(strings.Repeat("a.", 200) + "x:443"): "too long",
}

// TestMalformed: what is not clear is refused before anything is asked of the network.
func TestMalformed(t *testing.T) {
	t.Parallel()
	w := newTestEnv(t, "*", "ok.test:80", "*.test:80", "93.184.216.10:80")
	for head, want := range malformedRequests {
		answer := w.ask(head, "", "nothing")
		if !strings.HasPrefix(answer, "400 pawl: the request is malformed: ") || !strings.Contains(answer, want) {
			t.Errorf("%q: got %q, want %q", head, answer, want)
		}
	}
	if trace := w.trace(); len(trace) > 0 {
		t.Errorf("the network has heard of it: %q", trace)
	}
	if reported := w.reported(); len(reported) != len(malformedRequests) || slices.ContainsFunc(reported, func(d Decision) bool { return d.Allowed || d.Why == "" }) {
		t.Errorf("%d decisions: %+v", len(reported), reported)
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	many := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "X-%d: y\r\n", i)
		}
		return b.String()
	}
	w := newTestEnv(t, "ok.test:80")
	for _, test := range []struct{ name, head, want string }{
		{"a long line", "GET http://ok.test/" + strings.Repeat("a", maxHead) + " HTTP/1.1\r\nHost: ok.test\r\n\r\n", "431 pawl: the request head is larger than 32768 bytes\n"},
		{"long lines", "GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n" + strings.Repeat("X: "+strings.Repeat("y", 1000)+"\r\n", 40) + "\r\n", "431 pawl: the request head"},
		{"an endless line", strings.Repeat("a", 2*maxHead), "431 pawl: the request head"},
		{"many fields", "GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n" + many(maxFields) + "\r\n", "431 pawl: the request has more than 100 header fields\n"},
		{"just enough fields", "GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n" + many(maxFields-1) + "\r\n", "200 hello from ok.test"},
		{"a method", "TRACE http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n", "405 pawl: the method TRACE is not supported\n"},
	} {
		if answer := w.ask(test.head, "", ""); !strings.HasPrefix(answer, test.want) {
			t.Errorf("%s: got %q", test.name, answer)
		}
	}
}

func TestReadRequest(t *testing.T) {
	t.Parallel()
	for head, want := range map[string]string{
		connect("OK.test:443"):                                                                "CONNECT ok.test 443 <nil> 0 false",
		"CONNECT ok.test:443 HTTP/1.0\r\n\r\n":                                                "CONNECT ok.test 443 <nil> 0 false",
		connect("[2606:2800::1]:8443"):                                                        "CONNECT 2606:2800::1 8443 <nil> 0 false",
		get("http://OK.test:80/a%20b?q=%2f.."):                                                "GET ok.test 80 http://ok.test/a%20b?q=%2f.. 0 false",
		get("http://[2606:2800::1]?x"):                                                        "GET 2606:2800::1 80 http://[2606:2800::1]?x 0 false",
		"PUT http://ok.test HTTP/1.1\r\nhost:x\r\nContent-Length: 12\r\n\r\n":                 "PUT ok.test 80 http://ok.test 12 false",
		"POST http://ok.test/ HTTP/1.1\r\nHost: \tx \r\nTRANSFER-ENCODING: Chunked\r\n\r\n":   "POST ok.test 80 http://ok.test/ 0 true",
		"GET http://ok.test/http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\nX: \xff\r\n\r\n": "GET ok.test 80 http://ok.test/http://evil.test/ 0 false",
	} {
		r, err := readRequest(bufio.NewReader(strings.NewReader(head)))
		if err != nil {
			t.Errorf("%q: %v", head, err)
			continue
		}
		url := "<nil>"
		if r.url != nil {
			url = r.url.String()
		}
		if diff := cmp.Diff(want, fmt.Sprintf("%s %s %d %s %d %t", r.method, r.host, r.port, url, r.length, r.chunked)); diff != "" {
			t.Errorf("%q: %s", head, diff)
		}
	}
}
