package fakeprovider

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pawl-dev/pawl"
)

// openaiPart is a content part of OpenAI's protocols.
type openaiPart struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	ImageURL json.RawMessage `json:"image_url"` // Chat: an object; Responses: the URL itself
	File     *openaiFile     `json:"file"`      // Chat
	openaiFile
}

type openaiFile struct {
	Name string `json:"filename"`
	Data string `json:"file_data"`
	ID   string `json:"file_id"`
	URL  string `json:"file_url"`
}

func (f *openaiFile) check() error {
	switch {
	case f == nil, f.Data == "" && f.ID == "" && f.URL == "":
		return errors.New("file: a file needs its file_data or file_id")
	case f.Data == "":
		return nil
	case f.Name == "":
		return errors.New("file: filename: field required")
	}
	return checkURL(f.Data, []string{pdf})
}

// chatPart parses a part of a user message.
func chatPart(p openaiPart) (pawl.Part, error) {
	switch p.Type {
	case "text", "refusal":
		return pawl.Text{Text: p.Text}, nil
	case "image_url":
		var image struct {
			URL string `json:"url"`
		}
		if err := json.Unmarshal(p.ImageURL, &image); err != nil {
			return nil, fmt.Errorf("image_url: want an object, got %.100q", p.ImageURL)
		}
		return pawl.File{}, checkURL(image.URL, images)
	case "file":
		return pawl.File{}, p.File.check()
	case "input_audio":
		return pawl.File{}, nil
	default:
		return nil, fmt.Errorf("unknown type %q", p.Type)
	}
}

// chatResultPart parses a part of a result, which can only be text.
func chatResultPart(p openaiPart) (pawl.Part, error) {
	if p.Type != "text" {
		return nil, fmt.Errorf("a tool message has parts of type text alone, got %q", p.Type)
	}
	return pawl.Text{Text: p.Text}, nil
}

// responsesPart parses a part of a message or of a result.
func responsesPart(p openaiPart) (pawl.Part, error) {
	switch p.Type {
	case "input_text", "output_text", "refusal":
		return pawl.Text{Text: p.Text}, nil
	case "input_image":
		var url string
		switch err := json.Unmarshal(p.ImageURL, &url); {
		case p.ID != "":
			return pawl.File{}, nil
		case err != nil:
			return nil, fmt.Errorf("image_url: want a string, got %.100q", p.ImageURL)
		}
		return pawl.File{}, checkURL(url, images)
	case "input_file":
		return pawl.File{}, p.check()
	default:
		return nil, fmt.Errorf("unknown type %q", p.Type)
	}
}

// contentParts parses OpenAI content: a text or a list of parts.
func contentParts(content json.RawMessage, read func(openaiPart) (pawl.Part, error)) (pawl.Parts, error) {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return pawl.Parts{pawl.Text{Text: text}}, nil
	}
	var list []openaiPart
	if err := json.Unmarshal(content, &list); err != nil {
		return nil, fmt.Errorf("content: want a string or a list of parts, got %.100q", content)
	}
	var parts pawl.Parts
	for i, p := range list {
		part, err := read(p)
		if err != nil {
			return nil, fmt.Errorf("content.%d: %w", i, err)
		}
		parts = append(parts, part)
	}
	return parts, nil
}
