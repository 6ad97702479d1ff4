package git

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// maxURL bounds the length of an address in bytes.
const maxURL = 2 << 10

// URL is the address of a repository. Git interprets the result of String exactly
// as the fields say, so a check of the fields covers what git will contact.
type URL struct {
	Scheme string // https or ssh
	User   string // for ssh only
	Host   string // a lower-case name or an IP address
	Port   int    // 0 means the default port
	Path   string // starts with a slash unless Home is true
	Home   bool   // the path is relative to the user's home directory: host:path
}

// CheckURL parses an address in one of the forms https://host/path,
// ssh://user@host:port/path and user@host:path. It rejects all other forms (git's
// transport helpers run programs, and files can be anywhere) and anything that two
// programs could parse differently.
func CheckURL(raw string) (URL, error) {
	u, err := readURL(raw)
	if err != nil {
		return URL{}, fault.New(pawl.ErrInvalid, "invalid repository address %.100q: %w", raw, err)
	}
	return u, nil
}

// String returns the address in its normalized form.
func (u URL) String() string {
	user, port := "", ""
	if u.User != "" {
		user = u.User + "@"
	}
	if u.Home {
		return user + u.Host + ":" + u.Path
	}
	host := u.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if u.Port != 0 {
		port = ":" + strconv.Itoa(u.Port)
	}
	return u.Scheme + "://" + user + host + port + u.Path
}

func readURL(raw string) (URL, error) {
	switch {
	case raw == "" || len(raw) > maxURL:
		return URL{}, errors.New("it is empty or too long")
	case raw[0] == '-':
		return URL{}, errors.New("it starts like an option")
	case strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`%\?#"'`+"`$;&|<>(){}*!^,", r) }):
		return URL{}, errors.New("it contains an invalid character")
	}
	u := URL{Scheme: "ssh"}
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return u.readShort(raw)
	}
	if u.Scheme = strings.ToLower(scheme); u.Scheme != "https" && u.Scheme != "ssh" {
		return u, errors.New("use https or ssh")
	}
	authority, path, _ := strings.Cut(rest, "/")
	u.Path = "/" + path
	if err := u.readAuthority(authority, true); err != nil {
		return u, err
	}
	return u, checkPath(path)
}

// readShort parses the scp form: [user@]host:path.
func (u URL) readShort(raw string) (URL, error) {
	authority, path, ok := strings.Cut(raw, ":")
	if !ok || strings.ContainsAny(authority, "/[]") {
		return u, errors.New("it has no host: use https or ssh")
	}
	if strings.HasPrefix(path, ":") {
		return u, errors.New("it names a git remote helper: use https or ssh")
	}
	if err := u.readAuthority(authority, false); err != nil {
		return u, err
	}
	if u.Path = path; strings.HasPrefix(path, "/") {
		return u, checkPath(path[1:])
	}
	u.Home = true
	return u, checkPath(path)
}

// readAuthority parses [user@]host[:port].
func (u *URL) readAuthority(text string, port bool) error {
	if user, host, ok := strings.Cut(text, "@"); ok {
		if u.Scheme != "ssh" {
			return errors.New("it contains a user name or password")
		}
		if user == "" || !isWord(user, "._-") {
			return errors.New("invalid user name")
		}
		u.User, text = user, host
	}
	if i := strings.LastIndexByte(text, ':'); port && i > strings.LastIndexByte(text, ']') {
		n, err := strconv.ParseUint(text[i+1:], 10, 16)
		if err != nil || n == 0 || text[i+1] == '0' || text[i+1] == '+' {
			return errors.New("invalid port")
		}
		u.Port, text = int(n), text[:i]
	}
	host, err := checkHost(text)
	u.Host = host
	return err
}

// checkHost validates a host and returns its normalized form.
func checkHost(host string) (string, error) {
	if inner, ok := strings.CutPrefix(host, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		a, err := netip.ParseAddr(inner)
		if !ok || err != nil || !a.Is6() || a.Zone() != "" || a.Is4In6() {
			return "", errors.New("invalid IPv6 address")
		}
		return a.String(), nil
	}
	host = strings.ToLower(host)
	if len(host) > 253 {
		return "", errors.New("the host name is too long")
	}
	labels := strings.Split(host, ".")
	for _, label := range labels {
		if !isWord(label, "-_") || strings.HasSuffix(label, "-") || len(label) > 63 {
			return "", errors.New("invalid host name")
		}
	}
	last := labels[len(labels)-1]
	if strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") { // some programs parse it as an IP address
		if a, err := netip.ParseAddr(host); err != nil || !a.Is4() {
			return "", errors.New("the host is an unusual spelling of an IP address")
		}
	}
	return host, nil
}

// checkPath validates a path without its leading slash.
func checkPath(path string) error {
	for part := range strings.SplitSeq(strings.TrimSuffix(path, "/"), "/") {
		if part == "" || part == "." || part == ".." || part[0] == '-' {
			return errors.New("the path is empty or not clean")
		}
	}
	if strings.ContainsAny(path, ":@[]=") {
		return errors.New("the path contains a character with a special meaning")
	}
	return nil
}

// isWord reports whether text consists of ASCII letters, digits and the characters
// in others, and does not start with a hyphen.
func isWord(text, others string) bool {
	return text != "" && text[0] != '-' && !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(others, r)
	})
}
