package mcpclient

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// mediaTypes are the file types that models accept.
var mediaTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"}

// contents collects the parts of a result, within the limits.
type contents struct {
	text  strings.Builder
	files []pawl.File
	cut   bool
}

func resultOf(server, tool string, r *sdk.CallToolResult) pawl.Result {
	var c contents
	for _, part := range r.Content {
		c.part(part)
	}
	if c.text.Len() == 0 && r.StructuredContent != nil {
		if text, err := json.Marshal(r.StructuredContent); err == nil {
			c.add(string(text))
		}
	}
	result := outside(server+"/"+line(tool, nameBytes), c.result())
	result.IsError = r.IsError
	result.Meta = map[string]string{"server": server, "tool": line(tool, nameBytes)}
	return result
}

// outside marks a result of a server as untrusted text.
func outside(source string, r pawl.Result) pawl.Result {
	if r.Content != "" {
		r.Content = sanitize.Untrusted("MCP "+source, r.Content)
	}
	return r
}

func (c *contents) result() pawl.Result {
	text := c.text.String()
	if c.cut {
		text += fmt.Sprintf("\n… the rest is left out: it is more than %d bytes …", resultBytes)
	}
	return pawl.Result{Content: text, Files: c.files}
}

func (c *contents) add(text string) {
	space := resultBytes - c.text.Len()
	if c.cut || space <= 0 {
		c.cut = true
		return
	}
	if c.text.Len() > 0 {
		c.text.WriteByte('\n')
	}
	if len(text) > space {
		text, c.cut = strings.TrimSuffix(short(text, space), "…"), true
	}
	c.text.WriteString(shown(text))
}

func (c *contents) part(part sdk.Content) {
	switch p := part.(type) {
	case *sdk.TextContent:
		c.add(p.Text)
	case *sdk.ImageContent:
		c.file("image", p.MIMEType, p.Data)
	case *sdk.AudioContent:
		c.file("sound", p.MIMEType, p.Data)
	case *sdk.ResourceLink:
		c.add(fmt.Sprintf("(resource %s, %s)", line(p.URI, uriBytes), line(p.Name, nameBytes)))
	case *sdk.EmbeddedResource:
		if p.Resource != nil {
			c.resource(p.Resource)
		}
	default:
		c.add(fmt.Sprintf("(a part of an unknown kind, %T, was left out)", part))
	}
}

func (c *contents) resource(r *sdk.ResourceContents) {
	if r.Blob != nil {
		c.file(line(r.URI, uriBytes), r.MIMEType, r.Blob)
		return
	}
	c.add(fmt.Sprintf("resource %s:\n%s", line(r.URI, uriBytes), r.Text))
}

func (c *contents) file(name, kind string, data []byte) {
	switch {
	case !slices.Contains(mediaTypes, kind):
		c.add(fmt.Sprintf("(%s of type %s, %d bytes, was left out: models do not read it)", name, line(kind, nameBytes), len(data)))
	case len(data) > fileBytes || len(c.files) >= resultFiles:
		c.add(fmt.Sprintf("(%s of type %s, %d bytes, was left out: at most %d files of %d bytes are taken)", name, kind, len(data), resultFiles, fileBytes))
	default:
		c.files = append(c.files, pawl.File{Name: name, MediaType: kind, Data: data})
		c.add(fmt.Sprintf("(%s of type %s, %d bytes)", name, kind, len(data)))
	}
}
