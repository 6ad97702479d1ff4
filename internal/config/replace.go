package config

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// maxReplacement bounds the file of a {file:path} placeholder, in bytes.
const maxReplacement = 64 << 10

// placeholder matches {env:NAME} and {file:path}, and unterminated ones, which are
// rejected.
var placeholder = regexp.MustCompile(`\{(env|file):([^{}]*)(\}?)`)

// replace resolves the placeholders of the user's configuration, and stores their values
// in Replaced. Only some keys may have them; see keys. dir is the directory of the
// configuration.
func (u *User) replace(dir string) error {
	r := replacer{dir: dir}
	for _, id := range slices.Sorted(maps.Keys(u.Providers)) {
		p := u.Providers[id]
		r.put("providers."+id+".base_url", &p.BaseURL)
		r.putAll("providers."+id+".headers.", p.Headers)
		u.Providers[id] = p
	}
	for _, name := range slices.Sorted(maps.Keys(u.MCP)) {
		s := u.MCP[name]
		r.put("mcp."+name+".url", &s.URL)
		r.putAll("mcp."+name+".headers.", s.Headers)
		r.putAll("mcp."+name+".env.", s.Env)
		u.MCP[name] = s
	}
	for _, name := range slices.Sorted(maps.Keys(u.LSP)) {
		r.putAll("lsp."+name+".env.", u.LSP[name].Env)
	}
	r.put("telemetry.endpoint", &u.Telemetry.Endpoint)
	r.putAll("telemetry.headers.", u.Telemetry.Headers)
	r.put("notify.webhook", &u.Notify.Webhook)
	r.put("websearch.url", &u.WebSearch.URL)
	r.put("codesearch.url", &u.CodeSearch.URL)
	r.put("fleet.temporal", &u.Fleet.Temporal)
	r.put("fleet.nats", &u.Fleet.NATS)
	r.put("fleet.blobs", &u.Fleet.Blobs)
	r.put("fleet.gateway", &u.Fleet.Gateway)
	u.Replaced = r.replaced
	return r.err
}

type replacer struct {
	dir      string
	replaced map[string][]string
	err      error
}

// putAll is put for the values of a map, below a key.
func (r *replacer) putAll(prefix string, values map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := values[name]
		r.put(prefix+name, &value)
		values[name] = value
	}
}

// put replaces the placeholders in the value of a key.
func (r *replacer) put(key string, value *string) {
	*value = placeholder.ReplaceAllStringFunc(*value, func(found string) string {
		parts := placeholder.FindStringSubmatch(found)
		text, err := r.look(parts[1], parts[2], parts[3] != "")
		if err == nil && strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c == 0x7f }) {
			err = errors.New("its value contains line breaks or control characters")
		}
		if err != nil {
			r.err = errors.Join(r.err, fmt.Errorf("%s: %s: %w", key, found, err))
			return ""
		}
		if r.replaced == nil {
			r.replaced = map[string][]string{}
		}
		r.replaced[key] = append(r.replaced[key], text)
		return text
	})
}

// look returns the value of a placeholder.
func (r *replacer) look(kind, name string, ended bool) (string, error) {
	switch {
	case !ended || name == "":
		return "", errors.New("use {env:NAME} or {file:path}")
	case kind == "file":
		return r.read(name)
	}
	value := os.Getenv(name)
	if value == "" {
		return "", fmt.Errorf("environment variable %s is not set", name)
	}
	return value, nil
}

// read returns the text of a file without the final line end.
func (r *replacer) read(path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		path = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.dir, path)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not hold up the start
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", errors.Join(err, fmt.Errorf("%s is not a regular file", path))
	}
	text, err := io.ReadAll(io.LimitReader(f, maxReplacement+1))
	switch {
	case err != nil:
		return "", err
	case len(text) > maxReplacement:
		return "", fmt.Errorf("%s has more than %d bytes", path, maxReplacement)
	case len(text) == 0:
		return "", fmt.Errorf("%s is empty", path)
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}
