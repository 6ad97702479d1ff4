package tool

import (
	"bufio"
	"bytes"
	"context"
	_ "embed" // the description
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/workspace"
)

//go:embed read.md
var readDescription string

type readInput struct {
	Path   string `json:"path" jsonschema:"file in the workspace, or blob:ID from a result that was cut"`
	Offset int    `json:"offset,omitempty" jsonschema:"first line to show, from 1"`
	Limit  int    `json:"limit,omitempty" jsonschema:"how many lines to show"`
}

const blobPrefix = "blob:"

// Read shows a text file with line numbers, or the whole of an output that was cut.
func Read(blobs pawl.Blobs) pawl.Tool {
	return define(definition[readInput]{
		name:        "read",
		description: readDescription,
		risk:        pawl.RiskSafe,
		access: func(call pawl.Call, in readInput) ([]pawl.Access, error) {
			if in.Offset < 0 || in.Limit < 0 {
				return nil, errors.New("offset and limit must not be negative")
			}
			if strings.HasPrefix(in.Path, blobPrefix) {
				return nil, nil // the session's own
			}
			return pathAccess(pawl.AccessRead, call, in.Path)
		},
		run: func(ctx context.Context, call pawl.Call, in readInput) (pawl.Result, error) {
			if id, ok := strings.CutPrefix(in.Path, blobPrefix); ok {
				r, err := blobs.OpenBlob(ctx, call.Session, id)
				if err != nil {
					return pawl.Result{}, fmt.Errorf("read %s: %w", in.Path, err)
				}
				defer r.Close()
				return readLines(ctx, r, in)
			}
			return readPath(ctx, call, in)
		},
	})
}

func readPath(ctx context.Context, call pawl.Call, in readInput) (pawl.Result, error) {
	rel, err := workspace.Rel(call.Dir, in.Path)
	if err != nil {
		return pawl.Result{}, err
	}
	w, err := workspace.Open(call.Dir)
	if err != nil {
		return pawl.Result{}, err
	}
	defer w.Close()
	f, err := w.Open(rel)
	if err != nil {
		return pawl.Result{}, fmt.Errorf("read %s: %w", in.Path, err)
	}
	defer f.Close()
	switch info, err := f.Stat(); {
	case err != nil:
		return pawl.Result{}, fmt.Errorf("read %s: %w", in.Path, err)
	case info.IsDir():
		return pawl.Result{}, fmt.Errorf("read %s: it is a folder: use list", in.Path)
	case !info.Mode().IsRegular():
		return pawl.Result{}, fmt.Errorf("read %s: it is not a regular file", in.Path)
	}
	return readLines(ctx, f, in)
}

// readFunc makes a reader of a function.
type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// readLines shows the wanted lines, within the limits, and says what it left out.
func readLines(ctx context.Context, r io.Reader, in readInput) (pawl.Result, error) {
	first, limit := max(in.Offset, 1), ReadLines
	if in.Limit > 0 {
		limit = min(in.Limit, ReadLines)
	}
	lines := bufio.NewReaderSize(readFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil { // the wanted lines may be far down
			return 0, err
		}
		return r.Read(p)
	}), 64<<10)
	if head, _ := lines.Peek(8 << 10); bytes.IndexByte(head, 0) >= 0 {
		return pawl.Result{}, fmt.Errorf("read %s: it is a binary file", in.Path)
	}
	var out strings.Builder
	for n := 1; ; n++ {
		line, err := readLine(lines)
		if errors.Is(err, io.EOF) {
			if n <= first && n > 1 {
				return pawl.Result{}, fmt.Errorf("read %s: it has only %d lines", in.Path, n-1)
			}
			if n == 1 {
				return pawl.Result{Content: "(the file is empty)"}, nil
			}
			return pawl.Result{Content: out.String()}, nil
		}
		if err != nil {
			return pawl.Result{}, fmt.Errorf("read %s: %w", in.Path, err)
		}
		if n < first {
			continue
		}
		line = fmt.Sprintf("%6d\t%s\n", n, line)
		if n >= first+limit || out.Len()+len(line) > ReadBytes {
			fmt.Fprintf(&out, "(more follows: go on with offset %d)\n", n)
			return pawl.Result{Content: out.String()}, nil
		}
		out.WriteString(line)
	}
}

// readLine returns the next line without its end, cut at ReadLineChars. The
// rest of a longer line is passed over without being held.
func readLine(r *bufio.Reader) (string, error) {
	var line []byte
	for {
		piece, err := r.ReadSlice('\n')
		if room := ReadLineChars*utf8.UTFMax + 2 - len(line); room > 0 {
			line = append(line, piece[:min(len(piece), room)]...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0) {
			return "", err
		}
		text := strings.TrimSuffix(strings.TrimSuffix(strings.ToValidUTF8(string(line), "\uFFFD"), "\n"), "\r")
		if utf8.RuneCountInString(text) > ReadLineChars {
			text = string([]rune(text)[:ReadLineChars]) + "… (line cut)"
		}
		return text, nil
	}
}

// pathAccess is the access of a tool that touches one path of the workspace.
func pathAccess(kind pawl.AccessKind, call pawl.Call, path string) ([]pawl.Access, error) {
	rel, err := workspace.Rel(call.Dir, path)
	if err != nil {
		return nil, err
	}
	return []pawl.Access{{Kind: kind, Target: rel}}, nil
}
