package fakeprovider

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// images are the image types that Anthropic and OpenAI support; Gemini supports HEIC but no GIF.
var (
	images       = []string{"image/png", "image/jpeg", "image/webp", "image/gif"}
	geminiImages = []string{"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"}
)

const pdf = "application/pdf"

// checkData validates the content and type of a file.
func checkData(mediaType, data string, types []string) error {
	if !slices.Contains(types, mediaType) {
		return fmt.Errorf("unsupported media type %q: want %s", mediaType, strings.Join(types, ", "))
	}
	if raw, err := base64.StdEncoding.DecodeString(data); err != nil || len(raw) == 0 {
		return fmt.Errorf("the %s has no content, or it is not base64", mediaType)
	}
	return nil
}

// checkURL validates the URL of a file: an HTTP URL, or a data URL with the content.
func checkURL(url string, types []string) error {
	if strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "http://") {
		return nil
	}
	inline, ok := strings.CutPrefix(url, "data:")
	mediaType, data, whole := strings.Cut(inline, ";base64,")
	if !ok || !whole {
		return fmt.Errorf("want a URL or a data URL in base64, got %.40q", url)
	}
	return checkData(mediaType, data, types)
}

// messagesSource is the source of an image or a document in the Messages protocol.
type messagesSource struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
	URL       string `json:"url"`
	FileID    string `json:"file_id"`
}

func (s *messagesSource) check(block string) error {
	types := images
	if block == "document" {
		types = []string{pdf}
	}
	switch {
	case s == nil:
		return fmt.Errorf("%s.source: Field required", block)
	case s.Type == "base64":
		if err := checkData(s.MediaType, s.Data, types); err != nil {
			return fmt.Errorf("%s.source: %w", block, err)
		}
	case s.Type == "url" && s.URL != "", s.Type == "file" && s.FileID != "":
	case block == "document" && (s.Type == "text" || s.Type == "content"):
	default:
		return fmt.Errorf("%s.source.type: unknown or incomplete source %q", block, s.Type)
	}
	return nil
}

// messagesResult parses the content of a result in the Messages protocol: nothing, a text or a
// list of blocks; failures may only have texts.
func messagesResult(content json.RawMessage, failed bool) (string, error) {
	var blocks []messagesBlock
	if len(content) == 0 || content[0] == '"' {
		return textOf(content), nil
	}
	if err := json.Unmarshal(content, &blocks); err != nil {
		return "", fmt.Errorf("tool_result.content: want a string or a list of blocks, got %.100q", content)
	}
	for i, b := range blocks {
		var err error
		switch {
		case b.Type == "text" && strings.TrimSpace(b.Text) == "":
			err = errors.New("text must not be empty or whitespace alone")
		case b.Type == "text":
		case failed:
			err = errors.New(`all content must be type "text" if "is_error" is true`)
		case b.Type == "image" || b.Type == "document":
			err = b.Source.check(b.Type)
		case b.Type != "search_result":
			err = fmt.Errorf("type: a result has no block of type %q", b.Type)
		}
		if err != nil {
			return "", fmt.Errorf("tool_result.content.%d: %w", i, err)
		}
	}
	return textOf(content), nil
}

// geminiData is a file in a part of the Gemini protocol.
type geminiData struct {
	MimeType string `json:"mimeType"`
	Data     string `json:"data"`
}

func (d *geminiData) check() error {
	types := slices.Concat(geminiImages, []string{pdf})
	if kind, _, _ := strings.Cut(d.MimeType, "/"); kind == "audio" || kind == "video" || kind == "text" {
		types = []string{d.MimeType}
	}
	if err := checkData(d.MimeType, d.Data, types); err != nil {
		return fmt.Errorf("inlineData: %w", err)
	}
	return nil
}
