package modeltest

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/protocol"
)

// Sample files, one of each kind that models support.
var (
	image    = pawl.File{Name: "cat.png", MediaType: "image/png", Data: []byte("png")}
	document = pawl.File{Name: "paper.pdf", MediaType: protocol.PDF, Data: []byte("%PDF")}
)

// fit returns the request for a model that supports these file types.
func fit(req model.Request, types ...string) model.Request {
	req.Messages = protocol.Takes(types).Fit(req.Messages)
	return req
}

// FileRequests returns sample requests with files in prompts and results, by name.
func FileRequests() map[string]model.Request {
	prompt := pawl.Message{Role: pawl.RoleUser, Parts: pawl.Parts{
		image,
		document,
		pawl.File{Name: "notes.md", MediaType: "text/markdown", Data: []byte("# Notes")},
		pawl.File{Name: "a.zip", MediaType: "application/zip", Data: []byte("PK")},
		pawl.Text{Text: "What are these?"},
	}}
	shown := pawl.ToolResult{Content: "an image, 3 bytes", Files: []pawl.File{image}}
	both := pawl.ToolResult{Content: "two files", Files: []pawl.File{image, document}}
	several := asked(
		pawl.ToolResult{Content: "text"},
		pawl.ToolResult{Files: both.Files}, // without text
		pawl.ToolResult{Content: "the page did not load", Files: []pawl.File{image}, IsError: true},
	)
	return map[string]model.Request{
		"files":          fit(model.Request{Messages: []pawl.Message{prompt}}, image.MediaType, document.MediaType),
		"files-untaken":  fit(model.Request{Messages: []pawl.Message{prompt}}),
		"result-image":   fit(model.Request{Messages: asked(shown), Tools: Tools()}, image.MediaType),
		"result-pdf":     fit(model.Request{Messages: asked(pawl.ToolResult{Content: "a PDF file", Files: []pawl.File{document}}), Tools: Tools()}, document.MediaType),
		"result-several": fit(model.Request{Messages: several, Tools: Tools()}, image.MediaType, document.MediaType),
		"result-untaken": fit(model.Request{Messages: asked(both), Tools: Tools()}, image.MediaType),
		// A steering prompt comes right after the results.
		"result-prompt": fit(model.Request{Messages: append(asked(shown), Prompt("And then?"), prompt), Tools: Tools()}, image.MediaType, document.MediaType),
	}
}

// FileSession returns a conversation with files that continues after them, with the given signature of its
// reasoning.
func FileSession(thought string) []pawl.Message {
	requests := FileRequests()
	messages := slices.Concat(requests["result-several"].Messages, []pawl.Message{Answer(pawl.Text{Text: "I see."})}, requests["result-prompt"].Messages)
	for i, m := range messages {
		if len(m.Parts.Calls()) > 0 {
			messages[i].Parts = slices.Insert(m.Parts, 0, pawl.Part(pawl.Reasoning{Text: "I look.", Signature: thought}))
		}
	}
	return append(messages, Answer(pawl.Text{Text: "I see."}), Prompt("Thanks."))
}

// asked returns a conversation that ends with the results of a reply's calls.
func asked(results ...pawl.ToolResult) []pawl.Message {
	reply := pawl.Message{Role: pawl.RoleAssistant}
	for i := range results {
		results[i].Call = pawl.CallID(fmt.Sprintf("call_%d", i+1))
		reply.Parts = append(reply.Parts, pawl.ToolCall{ID: results[i].Call, Name: "read", Input: json.RawMessage(fmt.Sprintf(`{"path":"%d"}`, i+1))})
	}
	return []pawl.Message{Prompt("Look at them."), reply, Results(results...)}
}
