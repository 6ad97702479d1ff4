package gateway

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/modeltest"
	"github.com/pawl-dev/pawl/internal/model/protocol"
)

// fill sets every field of a value, including fields that are added later. The input of a call is arbitrary bytes,
// because models may produce invalid JSON.
func fill(t *rapid.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i))
		}
	case reflect.String:
		v.SetString(rapid.String().Draw(t, "text"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, "number"))
	case reflect.Slice:
		v.SetBytes(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
	default:
		t.Fatalf("nobody knows how to make a %s", v.Type())
	}
}

// TestChunksAreKept checks that a chunk of each kind keeps all its fields when it is encoded and decoded.
func TestChunksAreKept(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var want model.Chunk
		v := reflect.ValueOf(&want).Elem()
		for i := range v.NumField() {
			if rapid.Bool().Draw(t, "set") {
				fill(t, v.Field(i))
			}
		}
		for kind := range kinds {
			want.Kind = model.ChunkKind(kind)
			var b bytes.Buffer
			(&gateway{}).encode(&b, lineOf(want))
			if n := bytes.Count(b.Bytes(), []byte("\n")); n != 1 {
				t.Fatalf("%d lines: %s", n, b.Bytes())
			}
			got, over, err := remoteModel{client: &Client{}}.read(b.Bytes())
			if diff := cmp.Diff(want, got); diff != "" || over || err != nil {
				t.Fatalf("%v %v (-want +got):\n%s\n%s", over, err, diff, b.Bytes())
			}
		}
	})
}

// TestKindsHaveNames checks that every kind of chunk has a name, including kinds that are added later.
func TestKindsHaveNames(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(gotoken.NewFileSet(), filepath.Join("..", "..", "internal", "model", "model.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var constants []string
	for _, d := range file.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok || group.Tok != gotoken.CONST {
			continue
		}
		first, ok := group.Specs[0].(*ast.ValueSpec).Type.(*ast.Ident)
		if !ok || first.Name != "ChunkKind" {
			continue
		}
		for _, s := range group.Specs {
			constants = append(constants, s.(*ast.ValueSpec).Names[0].Name)
		}
	}
	if len(constants) < 7 || len(constants) != len(kinds) {
		t.Errorf("the vocabulary has %q, the wire %q: give each kind of chunk a name in kinds", constants, kinds)
	}
}

// TestRequestsAreKept checks that requests keep all their fields when they are encoded and decoded.
func TestRequestsAreKept(t *testing.T) {
	t.Parallel()
	requests := modeltest.Requests()
	warm := 0.7
	requests["all"] = model.Request{
		Session: "s", Parent: "p", ParentCall: "c", Agent: "a", Replies: 3, System: "<&>\u2028", Messages: modeltest.FileSession("seal"),
		Tools: modeltest.Tools(), Prefill: "f", Schema: json.RawMessage(`{"a":"<&>"}`), Effort: "low", MaxTokens: 9, Temperature: &warm, TopP: &warm,
	}
	for _, v := range []reflect.Value{reflect.ValueOf(requests["all"])} {
		for i := range v.NumField() {
			if v.Field(i).IsZero() {
				t.Errorf("%s is not tried", v.Type().Field(i).Name)
			}
		}
	}
	for name, want := range requests {
		body, err := protocol.Marshal(ask{"m", request(want)})
		if err != nil {
			t.Fatal(err)
		}
		var got ask
		if err := json.Unmarshal(body, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, model.Request(got.Request)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
