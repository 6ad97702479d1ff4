package protocol

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

var (
	png  = pawl.File{Name: "a.png", MediaType: "image/png", Data: []byte("png")}
	gif  = pawl.File{Name: "a.gif", MediaType: "image/gif", Data: []byte("GIF")}
	pdf  = pawl.File{Name: "a.pdf", MediaType: PDF, Data: []byte("%PDF")}
	text = pawl.File{Name: "a.txt", MediaType: "text/plain; charset=utf-8", Data: []byte("words")}
	svg  = pawl.File{Name: "a.svg", MediaType: "image/svg+xml", Data: []byte("<svg/>")}
	none = pawl.File{Name: "b.png", MediaType: "image/png"}
	zip  = pawl.File{Name: "a.zip", MediaType: "application/zip", Data: []byte("PK")}
)

func TestFit(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		takes Takes
		file  pawl.File
		want  string // "" means that the file is sent
	}{
		{"an image", Takes{"image/png"}, png, ""},
		{"a PDF", Takes{"image/png", PDF}, pdf, ""},
		{"no images", nil, png, "[a.png, image/png, 3 bytes: this model takes no images]"},
		{"no images, but PDF", Takes{PDF}, gif, "[a.gif, image/gif, 3 bytes: this model takes no images]"},
		{"no such images", Takes{"image/png"}, gif, "[a.gif, image/gif, 3 bytes: this model takes no files of this type]"},
		{"no PDF", Takes{"image/png"}, pdf, "[a.pdf, application/pdf, 4 bytes: this model takes no PDF files]"},
		{"no such file", Takes{"image/png", PDF}, zip, "[a.zip, application/zip, 2 bytes: this model takes no files of this type]"},
		{"an empty one", Takes{"image/png"}, none, "[b.png, image/png, 0 bytes: the file is empty]"},
		{"text", nil, text, "<file name=\"a.txt\">\nwords\n</file>"},
		{"a drawing, which is text", Takes{"image/png"}, svg, "<file name=\"a.svg\">\n<svg/>\n</file>"},
	} {
		t.Run(test.name, func(t *testing.T) {
			conversation := []pawl.Message{
				{Role: pawl.RoleUser, Parts: pawl.Parts{pawl.Text{Text: "see"}, test.file}},
				{Role: pawl.RoleTool, Parts: pawl.Parts{
					pawl.ToolResult{Call: "c1", Content: "first", Files: []pawl.File{test.file}, IsError: true},
					pawl.ToolResult{Call: "c2", Content: "line\n", Files: []pawl.File{test.file, test.file}},
					pawl.ToolResult{Call: "c3", Files: []pawl.File{test.file}},
				}},
			}
			want := conversation
			if test.want != "" {
				want = []pawl.Message{
					{Role: pawl.RoleUser, Parts: pawl.Parts{pawl.Text{Text: "see"}, pawl.Text{Text: test.want}}},
					{Role: pawl.RoleTool, Parts: pawl.Parts{
						pawl.ToolResult{Call: "c1", Content: "first\n" + test.want, IsError: true},
						pawl.ToolResult{Call: "c2", Content: "line\n" + test.want + "\n" + test.want},
						pawl.ToolResult{Call: "c3", Content: test.want},
					}},
				}
			}
			if diff := cmp.Diff(want, test.takes.Fit(conversation)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if f, ok := conversation[0].Parts[1].(pawl.File); !ok || len(conversation[1].Parts[0].(pawl.ToolResult).Files) != 1 {
				t.Errorf("the conversation was changed: %v", f)
			}
		})
	}
}

func TestBeside(t *testing.T) {
	t.Parallel()
	results := []pawl.ToolResult{{Call: "c1", Content: "a"}, {Call: "c2", Files: []pawl.File{png, pdf}}, {Call: "c3", Files: []pawl.File{gif}, IsError: true}}
	want := pawl.Parts{
		pawl.Text{Text: "Files of the results above:"},
		pawl.Text{Text: "Result 2 (c2): a.png, a.pdf"}, png, pdf,
		pawl.Text{Text: "Result 3 (c3): a.gif"}, gif,
	}
	if diff := cmp.Diff(want, Beside(results)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := Beside(results[:1]); got != nil {
		t.Errorf("without files: %v", got)
	}
}
