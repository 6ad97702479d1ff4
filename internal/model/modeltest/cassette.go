// Package modeltest contains helpers for testing model clients: recorded exchanges, sample requests and golden
// files.
package modeltest

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// Exchange is a recorded request to a provider, with the response.
type Exchange struct {
	File  string // the cassette, relative to the directory of recordings
	Index int    // index in the cassette, from 0

	URL         string
	RequestBody []byte

	Status       int
	ContentType  string
	ResponseBody []byte
}

// cassette is a file in the format of go-vcr.
type cassette struct {
	Interactions []struct {
		Request struct {
			URL  string `yaml:"url"`
			Body string `yaml:"body"`
		} `yaml:"request"`
		Response struct {
			Code    int                 `yaml:"code"`
			Body    string              `yaml:"body"`
			Headers map[string][]string `yaml:"headers"`
		} `yaml:"response"`
	} `yaml:"interactions"`
}

// Cassettes returns the recorded exchanges whose URL contains urlPart, by file and in order. The recordings are
// not part of the repository: they are in $PAWL_WIRE, or in ../shared/wire beside it. It fails the test if
// none exist.
func Cassettes(t testing.TB, urlPart string) []Exchange {
	t.Helper()
	dir := wire(t)
	var out []Exchange
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(text, []byte(urlPart)) {
			return err
		}
		var c cassette
		if err := yaml.Unmarshal(text, &c); err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		for i, x := range c.Interactions {
			if strings.Contains(x.Request.URL, urlPart) {
				out = append(out, Exchange{
					File: name, Index: i,
					URL: x.Request.URL, RequestBody: []byte(x.Request.Body),
					Status: x.Response.Code, ContentType: strings.Join(x.Response.Headers["Content-Type"], ","),
					ResponseBody: []byte(x.Response.Body),
				})
			}
		}
		return err
	})
	if err != nil {
		t.Fatalf("read recordings: %v", err)
	}
	if len(out) == 0 {
		t.Fatalf("no recording of %q in %s: set PAWL_WIRE to the folder of recordings", urlPart, dir)
	}
	return out
}

// wire returns the directory of recordings.
func wire(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("PAWL_WIRE"); dir != "" {
		return dir
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(filepath.Dir(dir), "shared", "wire")
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the test: is this a checkout?")
		}
		dir = parent
	}
}
