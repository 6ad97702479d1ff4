package protocol

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/humanize"
)

// PDF is the media type of documents that models read.
const PDF = "application/pdf"

// Takes lists the media types of files that a model supports. The zero value supports none.
type Takes []string

// Fit replaces every unsupported file in prompts and results by text, without changing the conversation itself.
// Clients only get conversations whose files are images or PDFs.
//
// The text depends only on the message, so that successive requests of a session start with the same bytes.
func (t Takes) Fit(conversation []pawl.Message) []pawl.Message {
	fitted := slices.Clone(conversation)
	for i := range fitted {
		fitted[i].Parts = slices.Clone(fitted[i].Parts)
		for j, part := range fitted[i].Parts {
			fitted[i].Parts[j] = t.fit(part)
		}
	}
	return fitted
}

func (t Takes) fit(part pawl.Part) pawl.Part {
	switch p := part.(type) {
	case pawl.File:
		if !t.takes(p) {
			return pawl.Text{Text: t.words(p)}
		}
	case pawl.ToolResult:
		return t.fitResult(p)
	case pawl.Text, pawl.Reasoning, pawl.ToolCall, pawl.Patch:
	}
	return part
}

// fitResult appends the text to the content of the result.
func (t Takes) fitResult(r pawl.ToolResult) pawl.ToolResult {
	var taken []pawl.File
	for _, f := range r.Files {
		if t.takes(f) {
			taken = append(taken, f)
			continue
		}
		if r.Content != "" && !strings.HasSuffix(r.Content, "\n") {
			r.Content += "\n"
		}
		r.Content += t.words(f)
	}
	r.Files = taken
	return r
}

// takes reports whether the model supports the file. Providers reject empty files.
func (t Takes) takes(f pawl.File) bool {
	return len(f.Data) > 0 && slices.Contains(t, f.MediaType)
}

// words describes a file: its text, or why the model does not see it.
func (t Takes) words(f pawl.File) string {
	if IsText(f) {
		return Quote(f)
	}
	return fmt.Sprintf("[%s, %s, %s: %s]", f.Name, f.MediaType, humanize.Bytes(len(f.Data)), t.why(f))
}

// IsText reports whether a file is sent as text.
func IsText(f pawl.File) bool {
	return strings.HasPrefix(f.MediaType, "text/") || f.MediaType == "application/json" || f.MediaType == "image/svg+xml"
}

// Quote returns the text of a file with its name, between tags that do not occur in it.
func Quote(f pawl.File) string {
	text, tag := strings.TrimRight(string(f.Data), "\n"), "file"
	for strings.Contains(text, "</"+tag+">") {
		tag += "_"
	}
	return fmt.Sprintf("<%s name=%q>\n%s\n</%s>", tag, f.Name, text, tag)
}

func (t Takes) why(f pawl.File) string {
	isImage := func(kind string) bool { return strings.HasPrefix(kind, "image/") }
	switch {
	case len(f.Data) == 0:
		return "the file is empty"
	case isImage(f.MediaType) && !slices.ContainsFunc(t, isImage):
		return "this model takes no images"
	case f.MediaType == PDF:
		return "this model takes no PDF files"
	default:
		return "this model takes no files of this type"
	}
}

// Beside returns the files of a message's results as user parts, each introduced by its origin, for protocols
// whose results can only be text. It returns nil if they have no files.
func Beside(results []pawl.ToolResult) pawl.Parts {
	var parts pawl.Parts
	for i, r := range results {
		if len(r.Files) == 0 {
			continue
		}
		if parts == nil {
			parts = append(parts, pawl.Text{Text: "Files of the results above:"})
		}
		names := make([]string, len(r.Files))
		for j, f := range r.Files {
			names[j] = f.Name
		}
		parts = append(parts, pawl.Text{Text: fmt.Sprintf("Result %d (%s): %s", i+1, r.Call, strings.Join(names, ", "))})
		for _, f := range r.Files {
			parts = append(parts, f)
		}
	}
	return parts
}

// Results returns the results of a message, in order.
func Results(parts pawl.Parts) []pawl.ToolResult {
	var list []pawl.ToolResult
	for _, part := range parts {
		if r, ok := part.(pawl.ToolResult); ok {
			list = append(list, r)
		}
	}
	return list
}
