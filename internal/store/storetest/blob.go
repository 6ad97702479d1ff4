package storetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

func put(t *testing.T, s store.Store, id pawl.SessionID, content []byte) pawl.Blob {
	t.Helper()
	blob, err := s.PutBlob(t.Context(), id, bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	equal(t, "blob", blob, pawl.Blob{ID: hex.EncodeToString(sum[:]), Size: int64(len(content))})
	return blob
}

func holds(t *testing.T, s store.Store, id pawl.SessionID, blob pawl.Blob, content []byte) {
	t.Helper()
	r, err := s.OpenBlob(t.Context(), id, blob.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, content) {
		t.Fatalf("blob of %d bytes came back as %d other ones", len(content), len(got))
	}
}

func blobs(t *testing.T, s store.Store) {
	id := create(t, s).Session
	for _, content := range []string{"", "a", "\x00\xff", strings.Repeat("line\n", 1000)} {
		blob := put(t, s, id, []byte(content))
		holds(t, s, id, blob, []byte(content))
		equal(t, "the same content again", put(t, s, id, []byte(content)), blob)
		holds(t, s, id, blob, []byte(content))
	}
}

func blobLarge(t *testing.T, s store.Store) {
	id := create(t, s).Session
	for _, size := range []int{256<<10 - 1, 256 << 10, 256<<10 + 1, 5 << 20} {
		content := make([]byte, size)
		if _, err := rand.NewChaCha8([32]byte{1}).Read(content); err != nil {
			t.Fatal(err)
		}
		blob := put(t, s, id, content)
		holds(t, s, id, blob, content)

		r, err := s.OpenBlob(t.Context(), id, blob.ID)
		if err != nil {
			t.Fatal(err)
		}
		start := make([]byte, 10)
		if _, err := io.ReadFull(r, start); err != nil || !bytes.Equal(start, content[:10]) {
			t.Fatalf("the blob begins with %x, %v", start, err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func blobIsolated(t *testing.T, s store.Store) {
	mine, theirs := create(t, s).Session, create(t, s).Session
	blob := put(t, s, mine, []byte("secret"))
	_, err := s.OpenBlob(t.Context(), theirs, blob.ID)
	fails(t, "blob of another session", err, pawl.ErrNotFound)
	put(t, s, theirs, []byte("secret"))
	if err := s.Delete(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	holds(t, s, mine, blob, []byte("secret"))
}

func blobMissing(t *testing.T, s store.Store) {
	id := create(t, s).Session
	put(t, s, id, []byte("a"))
	for _, name := range []string{strings.Repeat("0", 64), "", ".", "..", "../" + string(id), strings.Repeat("A", 64), "\xff\x00"} {
		_, err := s.OpenBlob(t.Context(), id, name)
		fails(t, name, err, pawl.ErrNotFound)
	}
	for _, id := range []pawl.SessionID{NewID(), "", "..", "\xff\x00"} {
		_, err := s.PutBlob(t.Context(), id, strings.NewReader("a"))
		fails(t, "blob for a missing session", err, pawl.ErrNotFound)
		_, err = s.OpenBlob(t.Context(), id, strings.Repeat("0", 64))
		fails(t, "blob of a missing session", err, pawl.ErrNotFound)
	}
}

func blobBroken(t *testing.T, s store.Store) {
	id := create(t, s).Session
	broken := errors.New("broken")
	_, err := s.PutBlob(t.Context(), id, io.MultiReader(strings.NewReader("half"), iotest.ErrReader(broken)))
	fails(t, "a reader that breaks off", err, broken)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.PutBlob(ctx, id, strings.NewReader("half"))
	fails(t, "a caller that has gone", err, context.Canceled)
	sum := sha256.Sum256([]byte("half"))
	_, err = s.OpenBlob(t.Context(), id, hex.EncodeToString(sum[:]))
	fails(t, "what came before", err, pawl.ErrNotFound)
}
