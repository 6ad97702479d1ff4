package search

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/proc"
)

const (
	rgFiles        = 2000     // files of one run
	rgArgBytes     = 96 << 10 // bytes of the paths of one run: well below the limits of all systems
	rgPatternBytes = 64 << 10 // bytes of a pattern: likewise
	rgPathBytes    = 4000     // a longer path cannot be opened by name
)

// Ripgrep returns an engine that runs the first of these programs that is not
// in the workspace, where a session could have put it. The program reads no
// configuration, gets every file by name and only counts matching lines. If
// the pattern or a path cannot be passed to it, or it fails, Own counts
// instead.
func Ripgrep(programs ...string) Engine { return ripgrep{programs} }

// installed returns the programs named rg in the PATH, with links resolved.
func installed() []string {
	var found []string
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue // a relative entry means another program in every directory
		}
		path, err := filepath.EvalSymlinks(filepath.Join(dir, "rg"))
		if err != nil {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			found = append(found, path)
		}
	}
	return found
}

type ripgrep struct{ programs []string }

func (ripgrep) Batch(*Pattern) int { return rgFiles }

func (r ripgrep) Count(ctx context.Context, job Job) Counts {
	program := r.program(job.Dir)
	if program == "" || job.Pattern.rg == "" {
		return own{}.Count(ctx, job)
	}
	var all Counts
	for len(job.Files) > 0 && ctx.Err() == nil {
		n, size := 0, 0
		for n < len(job.Files) && size+len(job.Files[n]) <= rgArgBytes && len(job.Files[n]) <= rgPathBytes {
			size += len(job.Files[n])
			n++
		}
		part := job
		part.Files = job.Files[:max(n, 1)]
		job.Files = job.Files[len(part.Files):]
		found, ok := Counts{}, false
		if n > 0 {
			found, ok = r.run(ctx, program, part)
		}
		if !ok && ctx.Err() == nil {
			found = own{}.Count(ctx, part)
		}
		all.Files = append(all.Files, found.Files...)
		all.Unread += found.Unread
	}
	return all
}

// program returns the first program outside the workspace, or "".
func (r ripgrep) program(dir string) string {
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return ""
	}
	for _, program := range r.programs {
		if rel, err := filepath.Rel(resolved, program); err == nil && !filepath.IsLocal(rel) {
			return program
		}
	}
	return ""
}

// run runs the program once. It reports false if the program failed.
func (r ripgrep) run(ctx context.Context, program string, job Job) (Counts, bool) {
	args := []string{
		program, "--no-config", "--no-ignore", "--hidden", "--text", "--encoding=none",
		"--count", "--with-filename", "--null", "--color=never", "--no-messages", "--threads=1",
		"-e", job.Pattern.rg, "--",
	}
	for _, name := range job.Files {
		args = append(args, "./"+name) // a file named - would be standard input
	}
	var out bytes.Buffer
	exit, err := proc.Run(ctx, proc.Command{Args: args, Dir: job.Dir, Output: &out})
	lines, ok := parseCounts(out.Bytes())
	const none, fault = 1, 2 // exit codes: no match; something could not be read
	if ctx.Err() == nil && (err != nil || !ok || exit.Code < 0 || exit.Code > fault) {
		return Counts{}, false
	}
	var found Counts
	open := opener{ws: job.Workspace}
	defer open.close()
	for _, name := range job.Files {
		n := lines[name]
		if n == 0 && exit.Code <= none {
			continue
		}
		isBinary, err := open.binary(name)
		if unread(ctx, err) {
			found.Unread++
		}
		if n > 0 && err == nil && !isBinary {
			found.Files = append(found.Files, File{Path: name, Count: n})
		}
	}
	return found, true
}

// parseCounts parses the program's output: for each file with matches a path,
// a NUL, a number and a line break. It reports false for any other output,
// such as an error message.
func parseCounts(out []byte) (map[string]int, bool) {
	lines := map[string]int{}
	for len(out) > 0 {
		path, rest, ok := bytes.Cut(out, []byte{0})
		number, rest, ended := bytes.Cut(rest, []byte{'\n'})
		n, err := strconv.Atoi(string(number))
		name, given := strings.CutPrefix(string(path), "./")
		if !ok || !ended || err != nil || !given {
			return lines, false
		}
		lines[name] = n
		out = rest
	}
	return lines, true
}

// binary reports whether a file is binary.
func (o *opener) binary(name string) (bool, error) {
	f, err := o.file(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, binaryBytes)
	n, err := io.ReadFull(f, head)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return binary(head[:n]), err
}
