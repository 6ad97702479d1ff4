package tool

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/pawl-dev/pawl"
)

// readFunc is a function as an io.Reader.
type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// readLines returns the requested lines of r, within the limits, and a note on
// what it left out.
func readLines(ctx context.Context, r io.Reader, in readInput) (pawl.Result, error) {
	first, limit := max(in.Offset, 1), ReadLines
	if in.Limit > 0 {
		limit = min(in.Limit, ReadLines)
	}
	lines := bufio.NewReaderSize(readFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil { // the first requested line may be far down
			return 0, err
		}
		return r.Read(p)
	}), 64<<10)
	if head, _ := lines.Peek(8 << 10); bytes.IndexByte(head, 0) >= 0 {
		return pawl.Result{}, fmt.Errorf("read %s: it is a binary file", in.Path)
	}
	var out strings.Builder
	for n := 1; ; n++ {
		if n < first {
			if err := skipLine(lines); !errors.Is(err, io.EOF) {
				if err != nil {
					return pawl.Result{}, fmt.Errorf("read %s: %w", in.Path, err)
				}
				continue
			}
		}
		line, err := readLine(lines, max(in.Column, 1))
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
		line = fmt.Sprintf("%6d\t%s\n", n, line)
		if n >= first+limit || out.Len()+len(line) > ReadBytes {
			fmt.Fprintf(&out, "(more lines follow: continue with offset %d)\n", n)
			return pawl.Result{Content: out.String()}, nil
		}
		out.WriteString(line)
	}
}

// skipLine skips a line without storing it.
func skipLine(r *bufio.Reader) error {
	for some := false; ; some = true {
		piece, err := r.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && (some || len(piece) > 0):
			return nil
		default:
			return err
		}
	}
}

// readLine returns up to ReadLineChars characters of the next line, starting
// at a column, without the line end. It skips the rest without storing it.
func readLine(r *bufio.Reader, column int) (string, error) {
	var line []byte
	skipped, some := 1, false // the column at which the stored text begins
	for {
		piece, err := r.ReadSlice('\n')
		some = some || len(piece) > 0
		if space := (ReadLineChars+1)*utf8.UTFMax + 2 - len(line); space > 0 {
			line = append(line, piece[:min(len(piece), space)]...)
			for skipped < column && len(line) > 0 && (utf8.FullRune(line) || err == nil || errors.Is(err, io.EOF)) {
				_, size := utf8.DecodeRune(line)
				line = line[size:]
				skipped++
			}
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && (!errors.Is(err, io.EOF) || !some) {
			return "", err
		}
		text := strings.TrimSuffix(strings.TrimSuffix(strings.ToValidUTF8(string(line), "\uFFFD"), "\n"), "\r")
		if utf8.RuneCountInString(text) > ReadLineChars {
			text = fmt.Sprintf("%s… (line truncated: continue with column %d)", string([]rune(text)[:ReadLineChars]), column+ReadLineChars)
		}
		return text, nil
	}
}
