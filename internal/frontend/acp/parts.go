package acp

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// readTime bounds how long the editor may take to return a file.
const readTime = 10 * time.Second

// block is a content block of a prompt: text, or a resource that it mentions.
type block struct {
	text  string
	uri   string // of the resource; "" for text
	name  string
	media string
	data  []byte // of an image or a document
	inner bool   // text is the content of the resource
}

// parts converts blocks to the parts of a prompt: the text first, with the names of
// mentioned resources in their place, then their contents.
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

// mention returns the name of a resource for use in the text.
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

// filePath returns the file that a URI names, or "", and the fragment.
func filePath(uri string) (path, fragment string) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || !filepath.IsAbs(u.Path) {
		return "", ""
	}
	return filepath.Clean(u.Path), u.Fragment
}

// attachment returns the content of a resource, or nil: the model can read a file
// itself if the editor does not provide it.
func (s *session) attachment(ctx context.Context, b block) (pawl.Part, error) {
	switch {
	case b.data != nil && len(b.data) == 0 && !strings.HasPrefix(b.media, "audio/"):
		return nil, fault.New(pawl.ErrInvalid, "%s is empty or not valid base64", blockName(b))
	case b.data != nil:
		if !strings.HasPrefix(b.media, "image/") && b.media != "application/pdf" {
			return nil, fault.New(pawl.ErrInvalid, "%s has the unsupported type %q: attach images, PDFs or text", blockName(b), b.media)
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

// blockName returns the name of a resource.
func blockName(b block) string {
	if path, _ := filePath(b.uri); path != "" {
		return filepath.Base(path)
	}
	if b.name != "" {
		return b.name
	}
	return "attachment"
}

// embedded returns the editor's text of a file, with its name.
func (s *session) embedded(b block, text string) pawl.Text {
	return pawl.Text{Text: fmt.Sprintf("\n\n%s, as it is in the editor now:\n%s\n", s.mention(b), codeBlock(text))}
}
