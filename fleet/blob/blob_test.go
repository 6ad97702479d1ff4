package blob_test

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet/blob"
	"github.com/pawl-dev/pawl/fleet/blob/blobtest"
)

func open(t *testing.T, ref string) blob.Store {
	t.Helper()
	s, err := blob.Open(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFolder(t *testing.T) {
	t.Parallel()
	blobtest.Run(t, func(t *testing.T) blob.Store { return open(t, "file://"+t.TempDir()+"/blobs") })
}

func TestS3(t *testing.T) { //nolint:paralleltest // it sets environment variables
	blobtest.Run(t, func(t *testing.T) blob.Store {
		server := blobtest.NewS3(t)
		t.Cleanup(func() {
			if n := server.Unfinished(); n > 0 {
				t.Errorf("%d uploads were left unfinished", n)
			}
		})
		return open(t, server.URL)
	})
}

func TestOpen(t *testing.T) {
	t.Parallel()
	for ref, says := range map[string]string{
		"":                           "use file:///path",
		"/path":                      "use file:///path",
		"file://path":                "use file:///path",
		"file:///path?x=1":           "use file:///path",
		"gs://bucket":                "use file:///path",
		"s3:///prefix":               "use file:///path",
		"s3://bucket?bucket=b":       `"bucket" in the URL: use endpoint`,
		"s3://bucket?insecure=yes":   "insecure=1",
		"s3://bucket/a/../b":         "start with a dot",
		"s3://bucket?endpoint=a/b/c": "Endpoint url",
		"s3://key:secret@bucket":     "the URL contains credentials",
		"s3://bucket/" + strings.Repeat("x/", 500): "at most",
	} {
		if _, err := blob.Open(t.Context(), ref); !errors.Is(err, pawl.ErrInvalid) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "secret@") {
			t.Errorf("%s: %v", ref, err)
		}
	}
}

// TestPrivate checks that only the user can read the files of a directory store, and that old partial writes are
// deleted.
func TestPrivate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "deep", "blobs")
	s := open(t, "file://"+dir)
	if err := s.Put(t.Context(), "a/b", strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	old, young := filepath.Join(dir, ".unfinished", "old"), filepath.Join(dir, ".unfinished", "young")
	before := time.Now().Add(-25 * time.Hour)
	if err := errors.Join(os.WriteFile(old, nil, 0o600), os.Chtimes(old, before, before), os.WriteFile(young, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	open(t, "file://"+dir)
	var names []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %s", path, info.Mode())
		}
		names = append(names, d.Name())
		return err
	})
	if got := strings.Join(names, " "); err != nil || got != "blobs .unfinished young a b" {
		t.Errorf("%s, %v", got, err)
	}
}

// TestRefused checks the errors for requests that a store rejects.
func TestRefused(t *testing.T) { //nolint:paralleltest // it sets environment variables
	for status, want := range map[int]error{
		http.StatusForbidden:  pawl.ErrDenied,
		http.StatusNotFound:   pawl.ErrUnavailable,
		http.StatusBadRequest: pawl.ErrUnavailable,
	} {
		server := blobtest.NewS3(t)
		server.Refuse = func(*http.Request) int { return status }
		s := open(t, server.URL)
		if err := s.Put(t.Context(), "a", strings.NewReader("x")); !errors.Is(err, want) {
			t.Errorf("put %d: %v", status, err)
		}
		if _, err := s.Get(t.Context(), "a"); !errors.Is(err, want) || errors.Is(err, pawl.ErrNotFound) {
			t.Errorf("get %d: %v", status, err)
		}
	}
	server := blobtest.NewS3(t)
	s := open(t, strings.Replace(server.URL, "//bucket", "//other", 1))
	if err := s.Put(t.Context(), "a", strings.NewReader("x")); !errors.Is(err, pawl.ErrInvalid) || !strings.Contains(err.Error(), "bucket other not found") {
		t.Error(err)
	}
}
