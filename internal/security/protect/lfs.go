package protect

import (
	"encoding/hex"
	"io"
	"path"
	"regexp"
	"strings"

	"github.com/pawl-dev/pawl/internal/workspace/tree"
)

var lfsObject = regexp.MustCompile(`^objects/([0-9a-f]{2})/([0-9a-f]{2})/([0-9a-f]{64})$`)

// checkLFS decides about an entry of the storage of Git LFS, whose files are named by their SHA-256 hashes. Other files
// are temporary.
func (r *repo) checkLFS(below string, change tree.Change) outcome {
	m := lfsObject.FindStringSubmatch(below)
	switch {
	case change.New.Type == tree.Dir || change.Old.Type == tree.Dir:
		return outcome{}
	case m == nil && below != "" && !strings.HasPrefix(below, "objects/"):
		return outcome{drop: true}
	case m == nil || change.New.Type == tree.Missing || !strings.HasPrefix(m[3], m[1]+m[2]):
		return outcome{reason: "it deletes an object of Git LFS, or adds one that Pawl does not know"}
	}
	f, size, err := openFile(r.upper, change.Path)
	if err != nil {
		return outcome{reason: "the object of Git LFS cannot be read"}
	}
	defer f.Close()
	sum := sha256Hash.new()
	if n, err := io.Copy(sum, io.LimitReader(f, size)); err != nil || n != size || hex.EncodeToString(sum.Sum(nil)) != path.Base(below) {
		return outcome{reason: "the object of Git LFS does not match its name"}
	}
	return outcome{}
}
