package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Sandbox configures the sandbox of a model's commands.
type Sandbox struct {
	Network  []string `json:"network,omitempty"`  // hosts that can be reached: a name, *.domain, with :port if need be; none means no network
	Writable []string `json:"writable,omitempty"` // directories beside the workspace, absolute or from ~
	Readable []string `json:"readable,omitempty"` // files and directories of the home directory that commands see, absolute or from ~
	Env      []string `json:"env,omitempty"`      // names of variables that commands get
	Hidden   []string `json:"hidden,omitempty"`   // paths, absolute or from ~, and patterns for names in the workspace
}

// maxSandbox bounds each list.
const maxSandbox = 200

// expand checks the lists and makes paths absolute; ~ is home.
func (s *Sandbox) expand(home string) error {
	for name, list := range map[string][]string{"network": s.Network, "writable": s.Writable, "readable": s.Readable, "env": s.Env, "hidden": s.Hidden} {
		if len(list) > maxSandbox {
			return fmt.Errorf("sandbox.%s has more than %d entries", name, maxSandbox)
		}
	}
	for _, host := range s.Network {
		if err := checkHostPattern(host); err != nil {
			return fmt.Errorf("sandbox.network: %q: %w", host, err)
		}
	}
	for name, list := range map[string][]string{"writable": s.Writable, "readable": s.Readable} {
		for i, path := range list {
			full, err := expandPath(path, home)
			if err != nil {
				return fmt.Errorf("sandbox.%s: %q: %w", name, path, err)
			}
			if full == "/" || full == filepath.Clean(home) {
				return fmt.Errorf("sandbox.%s: %q: too broad: name the directories that commands need", name, path)
			}
			list[i] = full
		}
	}
	for _, name := range s.Env {
		if !isVariable(name) {
			return fmt.Errorf("sandbox.env: %q: not a valid variable name", name)
		}
	}
	for i, path := range s.Hidden {
		if path != "" && path[0] != '/' && path[0] != '~' {
			if _, err := filepath.Match(path, "x"); err != nil || strings.Contains(path, "/") {
				return fmt.Errorf("sandbox.hidden: %q: not a path or a file name pattern", path)
			}
			continue
		}
		full, err := expandPath(path, home)
		if err != nil {
			return fmt.Errorf("sandbox.hidden: %q: %w", path, err)
		}
		s.Hidden[i] = full
	}
	return nil
}

// expandPath returns the absolute path that a user means. It rejects misleading paths
// such as ~//etc or ~/../x.
func expandPath(path, home string) (string, error) {
	plain := strings.TrimSuffix(path, "/")
	rest, tilde := strings.CutPrefix(plain, "~")
	switch {
	case tilde && !filepath.IsAbs(home):
		return "", errors.New("the home directory is unknown: set HOME")
	case strings.ContainsRune(path, 0):
		return "", errors.New("the path contains a zero byte")
	case path == "/":
		return path, nil
	case tilde && rest == "":
		return filepath.Clean(home), nil
	case tilde && rest[0] != '/':
		return "", errors.New("the home directories of other users are not supported: use an absolute path")
	case tilde:
		plain = rest
	case !filepath.IsAbs(plain):
		return "", errors.New("the path is not absolute and does not begin with ~/")
	}
	if filepath.Clean(plain) != plain || plain == "/" {
		return "", errors.New("the path contains //, /./ or /../")
	}
	if tilde {
		plain = filepath.Join(home, plain)
	}
	return plain, nil
}

// checkHostPattern returns an error unless pattern is a name, *.domain or an address, with
// an optional port.
func checkHostPattern(pattern string) error {
	host := pattern
	if i := strings.LastIndexByte(host, ':'); i >= 0 {
		port := host[i+1:]
		if port == "" || len(port) > 5 || port[0] == '0' || strings.Trim(port, "0123456789") != "" {
			return errors.New("invalid port")
		}
		host = host[:i]
	}
	name := strings.TrimPrefix(host, "*.")
	if name == "" || len(name) > 253 {
		return errors.New("invalid host name")
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || label[0] == '-' || strings.HasSuffix(label, "-") || strings.ContainsFunc(label, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-'
		}) {
			return errors.New("use a host name in lower case, or *.domain")
		}
	}
	if host != name && !strings.Contains(name, ".") {
		return errors.New("too broad: name a domain")
	}
	return nil
}

func isVariable(name string) bool {
	return name != "" && (name[0] < '0' || name[0] > '9') && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_'
	})
}
