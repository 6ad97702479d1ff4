package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// FileStat counts the changed lines of a file. Path is untrusted text.
type FileStat struct {
	Path    string `json:"path"`
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
	Binary  bool   `json:"binary,omitempty"` // its lines are not counted
}

// maxCompared bounds the output of Compare, in bytes.
const maxCompared = 64 << 20

// Compare returns the changes between two commits: the diff or, with stat, the changed
// lines of each file and in total. A renamed file is a deleted and an added one.
func (r *Repo) Compare(ctx context.Context, from, to string, stat bool) ([]byte, error) {
	args := []string{"diff", "--no-renames", "--src-prefix=a/", "--dst-prefix=b/"}
	if stat {
		args = append(args, "--stat")
	}
	return r.Run(ctx, Call{Args: args, Refs: []string{from, to}, Limit: maxCompared})
}

// FileStats returns the files that differ between two commits.
func (r *Repo) FileStats(ctx context.Context, from, to string) ([]FileStat, error) {
	out, err := r.Run(ctx, Call{Args: []string{"diff", "--no-renames", "--numstat", "-z"}, Refs: []string{from, to}})
	if err != nil {
		return nil, err
	}
	files := []FileStat{}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if line == "" {
			continue
		}
		f, err := readStat(line)
		if err != nil {
			return nil, fmt.Errorf("git diff: %w", err)
		}
		files = append(files, f)
	}
	return files, nil
}

// readStat parses a line of git diff --numstat -z.
func readStat(line string) (FileStat, error) {
	fields := strings.SplitN(line, "\t", 3)
	if len(fields) == 3 && fields[0] == "-" && fields[1] == "-" {
		return FileStat{Path: fields[2], Binary: true}, nil
	}
	if len(fields) == 3 {
		added, err := strconv.Atoi(fields[0])
		removed, err2 := strconv.Atoi(fields[1])
		if err == nil && err2 == nil {
			return FileStat{Path: fields[2], Added: added, Removed: removed}, nil
		}
	}
	return FileStat{}, fault.New(pawl.ErrInvalid, "unexpected line %.100q", line)
}
