package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

// TruncateResult truncates a result for the model: it returns the whole text if it is
// no longer than limit, otherwise its beginning and end with a note on how to
// read the rest, which is stored as the returned blob.
func TruncateResult(ctx context.Context, blobs store.Blobs, id pawl.SessionID, r io.Reader, limit int) (string, *pawl.Blob) {
	var first bytes.Buffer
	switch _, err := io.CopyN(&first, r, int64(limit)+1); {
	case errors.Is(err, io.EOF):
		return first.String(), nil
	case err != nil:
		return fmt.Sprintf("%s\n… the rest could not be read: %v …\n", first.String(), err), nil
	}
	kept := &ends{half: limit / 2}
	whole := io.TeeReader(io.MultiReader(&first, r), kept)
	blob, err := blobs.PutBlob(ctx, id, whole)
	if err != nil {
		_, _ = io.Copy(io.Discard, whole) // to get the tail
	}
	head := strings.ToValidUTF8(string(kept.head), "")
	tail := strings.ToValidUTF8(string(kept.last()), "")
	left := kept.dropped + int64(len(kept.head)-len(head)+len(kept.tail)-len(tail))
	if err != nil {
		return fmt.Sprintf("%s\n… %d bytes left out, which could not be kept: %v …\n%s", head, left, err, tail), nil
	}
	return fmt.Sprintf("%s\n… %d bytes left out: read blob:%s to see all …\n%s", head, left, blob.ID, tail), &blob
}
