package acp

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// readTime bounds how long the editor may take to hand over a file.
const readTime = 10 * time.Second

// block is a piece of a prompt as the editor sends it: words, or something that
// they mention.
type block struct {
	text  string
	uri   string // of what is mentioned; "" for words
	name  string
	media string
	data  []byte // of an image or a document
	inner bool   // text is the content of what is mentioned
}

// parts makes of blocks what a person says: their words first, with the names of
// what they mention in its place, then what that holds.
func (s *session) parts(ctx context.Context, blocks []block) (pawl.Parts, error) {
	var words strings.Builder
	var rest pawl.Parts
	for _, b := range blocks {
		switch {
		case b.uri == "" && b.data == nil:
			words.WriteString(b.text)
			continue
		case b.uri != "":
			words.WriteString(s.mention(b))
		}
		part, err := s.attachment(ctx, b)
		if err != nil {
			return nil, err
		}
		if part != nil {
			rest = append(rest, part)
		}
	}
	return append(pawl.Parts{pawl.Text{Text: words.String()}}, rest...), nil
}

// mention is the name of a thing within the words.
func (s *session) mention(b block) string {
	path, fragment := filePath(b.uri)
	if path == "" {
		return sanitize.Line(b.uri)
	}
	if rel, err := filepath.Rel(s.dir, path); err == nil && filepath.IsLocal(rel) {
		path = rel
	}
	if fragment != "" {
		path += "#" + fragment
	}
	return sanitize.Line(path)
}

// filePath is the file that a URI is about, or "", and the part of it.
func filePath(uri string) (path, fragment string) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || !filepath.IsAbs(u.Path) {
		return "", ""
	}
	return filepath.Clean(u.Path), u.Fragment
}

// attached is what a mentioned thing holds, or nil: a file that the editor does
// not hand over is one that the model can read by itself.
func (s *session) attachment(ctx context.Context, b block) (pawl.Part, error) {
	switch {
	case b.data != nil && len(b.data) == 0 && !strings.HasPrefix(b.media, "audio/"):
		return nil, fmt.Errorf("%s is empty, or no base64: attach it again: %w", blockName(b), pawl.ErrInvalid)
	case b.data != nil:
		if !strings.HasPrefix(b.media, "image/") && b.media != "application/pdf" {
			return nil, fmt.Errorf("%s is %q: attach images, PDFs and text: %w", blockName(b), b.media, pawl.ErrInvalid)
		}
		return pawl.File{Name: blockName(b), MediaType: b.media, Data: b.data}, nil
	case b.inner:
		return s.embedded(b, b.text), nil
	}
	path, _ := filePath(b.uri)
	if path == "" || !s.editor.reads() {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	text, err := s.editor.read(ctx, s.id, path, maxLines)
	if err != nil || len(text) > maxAttached {
		return nil, nil //nolint:nilerr // a directory, or no text: its name is in the words
	}
	return s.embedded(b, text), nil
}

// nameOf is what a thing is called.
func blockName(b block) string {
	if path, _ := filePath(b.uri); path != "" {
		return filepath.Base(path)
	}
	if b.name != "" {
		return b.name
	}
	return "attachment"
}

// embedded is a text that the editor has, with where it is from.
func (s *session) embedded(b block, text string) pawl.Text {
	return pawl.Text{Text: fmt.Sprintf("\n\n%s, as it is in the editor now:\n%s\n", s.mention(b), fence(text))}
}
