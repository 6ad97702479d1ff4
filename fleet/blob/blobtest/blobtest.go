// Package blobtest is the test suite that every blob store passes. It also contains an S3 server for tests.
package blobtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet/blob"
)

// Run runs the suite. open returns a new, empty store for each test.
func Run(t *testing.T, open func(t *testing.T) blob.Store) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, blob.Store)
	}{
		{"what was put is got", testPutGet},
		{"nothing there", testNothing},
		{"large blobs", testLarge},
		{"whole or not at all", testWhole},
		{"in the place of what was there", testReplace},
		{"list by key", testList},
		{"a long list", testLongList},
		{"keys that are none", testKeys},
		{"the end of the context", testContext},
		{"many at once", testMany},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}

func put(t *testing.T, s blob.Store, key, text string) {
	t.Helper()
	if err := s.Put(t.Context(), key, strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, s blob.Store, key string) string {
	t.Helper()
	text, err := read(t.Context(), s, key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func read(ctx context.Context, s blob.Store, key string) (string, error) {
	r, err := s.Get(ctx, key)
	if err != nil {
		return "", err
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	return string(text), err
}

func keys(t *testing.T, s blob.Store, prefix string) []string {
	t.Helper()
	var keys []string
	for info, err := range s.List(t.Context(), prefix) {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, info.Key)
	}
	return keys
}

func testPutGet(t *testing.T, s blob.Store) {
	for _, key := range []string{"a", "b/c", "tenant-1/Übung/a b+c%2F&?#.x", strings.Repeat("x", 200)} {
		put(t, s, key, "text of "+key)
		if got := get(t, s, key); got != "text of "+key {
			t.Errorf("%s: %q", key, got)
		}
	}
	put(t, s, "empty", "")
	if got := get(t, s, "empty"); got != "" {
		t.Errorf("empty: %q", got)
	}
}

func testNothing(t *testing.T, s blob.Store) {
	put(t, s, "a/b", "x")
	for _, key := range []string{"b", "a/c", "c/d"} {
		if _, err := s.Get(t.Context(), key); !errors.Is(err, pawl.ErrNotFound) {
			t.Errorf("get %s: %v", key, err)
		}
		if err := s.Delete(t.Context(), key); err != nil {
			t.Errorf("delete %s: %v", key, err)
		}
	}
	if err := s.Delete(t.Context(), "a/b"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), "a/b"); !errors.Is(err, pawl.ErrNotFound) {
		t.Error(err)
	}
	if got := keys(t, s, ""); got != nil {
		t.Error(got)
	}
}

// Blobs as large as a part, and larger.
func testLarge(t *testing.T, s blob.Store) {
	random := rand.NewChaCha8([32]byte{1})
	for _, size := range []int{16 << 20, 33<<20 + 7} {
		want := make([]byte, size)
		_, _ = random.Read(want) // never fails
		// A reader without a known size that cannot seek.
		if err := s.Put(t.Context(), "large", io.MultiReader(bytes.NewReader(want))); err != nil {
			t.Fatal(err)
		}
		if got := get(t, s, "large"); got != string(want) {
			t.Errorf("%d bytes came back as %d others", size, len(got))
		}
	}
}

// A failing reader leaves the existing blob unchanged.
func testWhole(t *testing.T, s blob.Store) {
	broken := errors.New("broken")
	put(t, s, "old", "old")
	for _, size := range []int{0, 10, 20 << 20, 40 << 20} {
		for _, key := range []string{"old", "new"} {
			r := io.MultiReader(bytes.NewReader(make([]byte, size)), iotest.ErrReader(broken))
			if err := s.Put(t.Context(), key, r); !errors.Is(err, broken) {
				t.Errorf("%d bytes: %v", size, err)
			}
		}
		if got := get(t, s, "old"); got != "old" {
			t.Errorf("%d bytes: %d are there", size, len(got))
		}
		if got := keys(t, s, ""); !slices.Equal(got, []string{"old"}) {
			t.Errorf("%d bytes: %v", size, got)
		}
	}
}

// A blob that is replaced or deleted while it is read is read completely, in one version.
func testReplace(t *testing.T, s blob.Store) {
	put(t, s, "a", "first")
	r, err := s.Get(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	put(t, s, "a", "second, which is longer")
	if text, err := io.ReadAll(r); err != nil || string(text) != "first" {
		t.Errorf("%q, %v", text, err)
	}
	if got := get(t, s, "a"); got != "second, which is longer" {
		t.Error(got)
	}
}

func testList(t *testing.T, s blob.Store) {
	all := []string{"a", "b-c", "b/c", "b/c0", "b/d/e", "b0", "Ü/x"}
	for _, key := range all {
		put(t, s, key, key)
	}
	for _, test := range []struct {
		prefix string
		want   []string
	}{
		{"", all},
		{"b", []string{"b-c", "b/c", "b/c0", "b/d/e", "b0"}},
		{"b/", []string{"b/c", "b/c0", "b/d/e"}},
		{"b/c", []string{"b/c", "b/c0"}},
		{"b/d/", []string{"b/d/e"}},
		{"Ü", []string{"Ü/x"}},
		{"c", nil},
	} {
		if diff := cmp.Diff(test.want, keys(t, s, test.prefix)); diff != "" {
			t.Errorf("%q: %s", test.prefix, diff)
		}
	}
	for info, err := range s.List(t.Context(), "b/d/") {
		if err != nil || info.Size != 5 || info.Changed.IsZero() {
			t.Errorf("%+v, %v", info, err)
		}
	}
	n := 0
	for range s.List(t.Context(), "") {
		if n++; n == 2 {
			break
		}
	}
}

// More than fits in one S3 response.
func testLongList(t *testing.T, s blob.Store) {
	var want []string
	for i := range 1_050 {
		want = append(want, fmt.Sprintf("k/%04d", i))
		put(t, s, want[i], "")
	}
	if diff := cmp.Diff(want, keys(t, s, "k/")); diff != "" {
		t.Error(diff)
	}
}

func testKeys(t *testing.T, s blob.Store) {
	for _, key := range []string{"", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a/.b", "a\x00b", "a\nb", "a\\b", "\xff", strings.Repeat("x", 201), strings.Repeat("x/", 500) + "x"} {
		if err := s.Put(t.Context(), key, strings.NewReader("x")); !errors.Is(err, pawl.ErrInvalid) {
			t.Errorf("put %q: %v", key, err)
		}
		if _, err := s.Get(t.Context(), key); !errors.Is(err, pawl.ErrInvalid) {
			t.Errorf("get %q: %v", key, err)
		}
		if err := s.Delete(t.Context(), key); !errors.Is(err, pawl.ErrInvalid) {
			t.Errorf("delete %q: %v", key, err)
		}
	}
	for _, err := range s.List(t.Context(), "../") {
		if !errors.Is(err, pawl.ErrInvalid) {
			t.Errorf("list: %v", err)
		}
	}
	if got := keys(t, s, ""); got != nil {
		t.Error(got)
	}
}

func testContext(t *testing.T, s blob.Store) {
	put(t, s, "a", "x")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Put(ctx, "b", strings.NewReader("x")); !errors.Is(err, context.Canceled) {
		t.Errorf("put: %v", err)
	}
	if _, err := read(ctx, s, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("get: %v", err)
	}
	if err := s.Delete(ctx, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("delete: %v", err)
	}
	var last error
	for _, err := range s.List(ctx, "") {
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("list: %v", last)
	}
	if got := keys(t, s, ""); !slices.Equal(got, []string{"a"}) {
		t.Error(got)
	}
}

// Concurrent writers of one key: the last blob is complete, and so is every read in between.
func testMany(t *testing.T, s blob.Store) {
	texts := make([]string, 8)
	for i := range texts {
		texts[i] = strings.Repeat(string(rune('a'+i)), 100_000+i)
	}
	put(t, s, "k/shared", texts[0])
	var group sync.WaitGroup
	for i, text := range texts {
		group.Go(func() {
			own := fmt.Sprintf("k/%d/own", i)
			for range 5 {
				if err := errors.Join(s.Put(t.Context(), "k/shared", strings.NewReader(text)), s.Put(t.Context(), own, strings.NewReader(text))); err != nil {
					t.Error(err)
				}
				if got, err := read(t.Context(), s, "k/shared"); err != nil || !slices.Contains(texts, got) {
					t.Errorf("%d bytes, %v", len(got), err)
				}
				if got, err := read(t.Context(), s, own); err != nil || got != text {
					t.Errorf("%d bytes, %v", len(got), err)
				}
				if err := s.Delete(t.Context(), own); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if got := keys(t, s, ""); !slices.Equal(got, []string{"k/shared"}) {
		t.Error(got)
	}
}
