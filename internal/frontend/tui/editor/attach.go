package editor

import (
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// Limits of attachments.
const (
	maxAttached = 10
	maxBytes    = 10 << 20 // of each
)

// Attachment is a file that is sent with a prompt. It is read when the prompt is sent,
// and only if its name has been shown.
type Attachment struct {
	Name  string
	Path  string // without symbolic links; "" if data holds the content
	Size  int64
	Kind  string // media type
	data  []byte
	shown bool
}

// attach adds a file to the prompt.
func (e *Editor) attach(a *Attachment) tea.Cmd {
	for _, f := range e.draft.files {
		if f.Path != "" && f.Path == a.Path {
			return nil
		}
	}
	if len(e.draft.files) >= maxAttached {
		return ui.Send(ui.Failed{Err: fault.New(pawl.ErrInvalid, "a prompt can have at most %d attachments", maxAttached).Hint("Send this prompt first.")})
	}
	e.draft.files = append(e.draft.files, a)
	return nil
}

// statFile checks that a path is a regular file of acceptable size.
func statFile(path string) (*Attachment, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Lstat(real)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fault.New(pawl.ErrInvalid, "%s is not a regular file", path)
	case info.Size() > maxBytes:
		return nil, fault.New(pawl.ErrInvalid, "%s is larger than %d bytes", path, maxBytes)
	}
	return &Attachment{Name: filepath.Base(real), Path: real, Size: info.Size(), Kind: mime.TypeByExtension(filepath.Ext(real))}, nil
}

// read returns the file's current content. It does not follow a symbolic link at its
// path: that would not be the file that was shown.
func (a *Attachment) read() (pawl.File, error) {
	file := pawl.File{Name: a.Name, MediaType: a.Kind, Data: a.data}
	if a.Path != "" {
		data, err := readFile(a.Path)
		if err != nil {
			return file, fmt.Errorf("attach: %w", err)
		}
		file.Data = data
	}
	if file.MediaType == "" {
		file.MediaType = http.DetectContentType(file.Data)
	}
	return file, nil
}

func readFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrInvalid}
	}
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err == nil && len(data) > maxBytes {
		err = fault.New(pawl.ErrInvalid, "%s is larger than %d bytes", path, maxBytes)
	}
	return data, err
}

// pathsIn parses paths as terminals paste dropped files: quoted, escaped, or as
// file:// URLs. It returns nil if the text contains anything else.
func pathsIn(s, home string) []string {
	if len(s) > maxAttached*4096 {
		return nil
	}
	text, ok := shellWords(strings.TrimSpace(s))
	if !ok || len(text) == 0 || len(text) > maxAttached {
		return nil
	}
	for i, w := range text {
		if rest, ok := strings.CutPrefix(w, "~/"); ok && home != "" {
			w = filepath.Join(home, rest)
		}
		if u, err := url.Parse(w); err == nil && u.Scheme == "file" && (u.Host == "" || u.Host == "localhost") {
			w = u.Path
		}
		if !filepath.IsAbs(w) || strings.ContainsFunc(w, func(r rune) bool { return r < ' ' }) {
			return nil
		}
		text[i] = filepath.Clean(w)
	}
	return text
}

// shellWords splits a text into words like a shell, without expansions. It returns
// false if a quote is not closed.
func shellWords(s string) (text []string, ok bool) {
	var word strings.Builder
	quote, inside := rune(0), false
	runes := []rune(s)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inside = r, true
		case r == '\\' && i+1 < len(runes):
			i++
			word.WriteRune(runes[i])
			inside = true
		case r == ' ' || r == '\n' || r == '\r' || r == '\t':
			if inside {
				text = append(text, word.String())
			}
			word.Reset()
			inside = false
		default:
			word.WriteRune(r)
			inside = true
		}
	}
	if inside {
		text = append(text, word.String())
	}
	return text, quote == 0
}
