package proxy

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/security/egress"
)

const (
	maxHead   = 32 << 10 // bytes of a request up to its body
	maxFields = 100      // of its header
)

// request is a client's request without its body.
type request struct {
	method  string
	host    string // in the spelling of egress.Host
	port    uint16
	url     *url.URL // nil for CONNECT
	header  http.Header
	length  int64 // of the body
	chunked bool
}

// errNothing means that a client disconnected without a request.
var errNothing = errors.New("no request")

// methods are the methods of plain HTTP that are forwarded.
var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions}

// readRequest reads a request up to its body. It rejects everything that two programs
// could parse differently. With a refusal it returns the host, as far as it is known.
func readRequest(in *bufio.Reader) (*request, error) {
	lines, err := readLines(in)
	if err != nil {
		return nil, err
	}
	parts := strings.Split(lines[0], " ")
	if len(parts) != 3 {
		return nil, malformed("the first line is not a method, a target and a version")
	}
	method, target, version := parts[0], parts[1], parts[2]
	switch {
	case !isToken(method):
		return nil, malformed("invalid method")
	case version != "HTTP/1.1" && (version != "HTTP/1.0" || method != http.MethodConnect): // some still connect in the old way
		return nil, malformed("the proxy speaks HTTP/1.1")
	}
	req := &request{method: method}
	if req.header, err = parseFields(lines[1:]); err != nil {
		return nil, err
	}
	if n := len(req.header["Host"]); n > 1 || n == 0 && version == "HTTP/1.1" {
		return nil, malformed("it has %d Host fields", n)
	}
	if err := req.framing(); err != nil {
		return nil, err
	}
	if method == http.MethodConnect {
		if req.length > 0 || req.chunked {
			return nil, malformed("CONNECT must not have a body")
		}
		req.host, req.port, err = parseAuthority(target, 0)
		return req, err
	}
	if !slices.Contains(methods, method) {
		return nil, &refusal{status: http.StatusMethodNotAllowed, why: "the method " + method + " is not supported", advice: "Use https, which the proxy does not inspect."}
	}
	return req, req.target(target)
}

// readLines reads the request line and the header, without line ends.
func readLines(in *bufio.Reader) ([]string, error) {
	var lines []string
	for size := 0; ; {
		raw, err := in.ReadSlice('\n')
		size += len(raw)
		switch {
		case size > maxHead || errors.Is(err, bufio.ErrBufferFull):
			return nil, &refusal{status: http.StatusRequestHeaderFieldsTooLarge, why: fmt.Sprintf("the request head is larger than %d bytes", maxHead)}
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, &refusal{status: http.StatusRequestTimeout, why: "the request timed out"}
		case err != nil && size == 0:
			return nil, errNothing
		case err != nil:
			return nil, malformed("it ends too early")
		}
		line, ok := strings.CutSuffix(string(raw), "\r\n")
		switch {
		case !ok || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
			return nil, malformed("it contains a bare line feed or another control character")
		case line == "" && len(lines) == 0:
			return nil, malformed("it starts with an empty line")
		case line == "":
			return lines, nil
		case len(lines) > maxFields:
			return nil, &refusal{status: http.StatusRequestHeaderFieldsTooLarge, why: fmt.Sprintf("the request has more than %d header fields", maxFields)}
		}
		lines = append(lines, line)
	}
}

// parseFields parses the header. It rejects names that are no tokens, including lines
// that begin with a space, which some servers append to the line before.
func parseFields(lines []string) (http.Header, error) {
	header := http.Header{}
	for _, line := range lines {
		name, value, ok := strings.Cut(line, ":")
		if !ok || !isToken(name) {
			return nil, malformed("a header field has no name, or a space around it")
		}
		header.Add(name, strings.Trim(value, " \t"))
	}
	return header, nil
}

func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}

// framing determines the length of the body, and rejects ambiguous requests.
func (r *request) framing() error {
	lengths, codings := r.header["Content-Length"], r.header["Transfer-Encoding"]
	switch {
	case len(lengths) > 0 && len(codings) > 0:
		return malformed("it has both Content-Length and Transfer-Encoding")
	case len(lengths) > 1 || len(codings) > 1:
		return malformed("the length of the body is given twice")
	case len(codings) == 1:
		r.chunked = strings.EqualFold(codings[0], "chunked")
		if !r.chunked {
			return malformed("Transfer-Encoding is not chunked")
		}
	case len(lengths) == 1:
		n, err := strconv.ParseInt(lengths[0], 10, 64)
		if err != nil || n < 0 || strconv.FormatInt(n, 10) != lengths[0] {
			return malformed("Content-Length is not a number")
		}
		r.length = n
	}
	return nil
}

// parseAuthority parses host:port. The port may be missing if usual is not 0.
func parseAuthority(s string, usual uint16) (string, uint16, error) {
	name, service := s, ""
	if usual == 0 || strings.Contains(s[strings.LastIndexByte(s, ']')+1:], ":") {
		var err error
		if name, service, err = net.SplitHostPort(s); err != nil {
			return "", 0, malformed("the target is not host:port")
		}
	} else if inner, ok := strings.CutPrefix(s, "["); ok {
		name = strings.TrimSuffix(inner, "]")
	}
	host, err := egress.Host(name)
	switch {
	case err != nil:
		return "", 0, malformed("host: %v", err)
	case host != strings.ToLower(name) || strings.ContainsFunc(name, func(r rune) bool { return r > '~' }):
		return "", 0, malformed("write the host as %s", host)
	case strings.HasPrefix(s, "[") != strings.Contains(host, ":"):
		return "", 0, malformed("brackets are only allowed around IPv6 addresses")
	case service == "" && usual != 0 && !strings.HasSuffix(s, ":"):
		return host, usual, nil
	}
	port, err := parsePort(service)
	if err != nil {
		return host, 0, malformed("%v", err)
	}
	return host, port, nil
}

// target parses the URL of a plain HTTP request.
func (r *request) target(target string) error {
	rest, ok := strings.CutPrefix(target, "http://")
	if !ok {
		return malformed("use http://host/path or CONNECT")
	}
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	path, _, _ := strings.Cut(rest[end:], "?")
	var err error
	switch {
	case strings.ContainsAny(target, "#\\"):
		return malformed("the URL contains a fragment or a backslash")
	case strings.Contains(rest[:end], "@"):
		return malformed("the URL contains a user name or password")
	}
	if r.host, r.port, err = parseAuthority(rest[:end], plainPort); err != nil {
		return err
	}
	if err := plainPath(path); err != nil {
		return err
	}
	if r.url, err = egress.ParseURL(target); err != nil {
		return malformed("invalid URL: %v", err)
	}
	return nil
}

// plainPath rejects paths that servers and their filters may parse differently.
func plainPath(path string) error {
	for part := range strings.SplitSeq(path, "/") {
		if part == "." || part == ".." {
			return malformed("the path contains a dot segment")
		}
	}
	for i := range len(path) {
		switch {
		case path[i] <= ' ' || path[i] > '~':
			return malformed("the path contains a character that must be escaped")
		case path[i] == '%':
			if err := plainEscape(path[i+1:]); err != nil {
				return err
			}
		}
	}
	return nil
}

// plainEscape checks an escape, given the text after its percent sign.
func plainEscape(s string) error {
	if len(s) < 2 {
		return malformed("the path ends in an escape")
	}
	c, err := strconv.ParseUint(s[:2], 16, 8)
	switch {
	case err != nil:
		return malformed("the path contains a broken escape")
	case c < ' ' || c == 0x7f || strings.ContainsRune("./\\%", rune(c)):
		return malformed("the path contains an escaped %q, which is ambiguous", rune(c))
	}
	return nil
}
