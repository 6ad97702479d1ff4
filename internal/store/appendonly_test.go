package store_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestEventsAreAppendOnly checks the sources of the stores: no statement outside of
// retention.go may update or delete events.
func TestEventsAreAppendOnly(t *testing.T) {
	t.Parallel()
	read := 0
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		if err != nil || name == "retention.go" || strings.HasSuffix(name, "_test.go") {
			return err
		}
		if ext := filepath.Ext(name); ext != ".go" && ext != ".sql" {
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		read++
		for _, statement := range rewrites(t, name, string(source)) {
			t.Errorf("%s: %q\nThe log is append-only: prompts, screens and restarts are readers of it and rely on "+
				"what they have read. Only retention (retention.go) removes events, with their whole session.", path, statement)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if read < 20 {
		t.Errorf("only %d sources were read: has the layout changed?", read)
	}
}

// rewrite matches the start of a statement that updates or deletes rows of events or
// one of its partitions, or of a table whose name is not in the text.
var rewrite = regexp.MustCompile(`(?is)\b(` +
	`(UPDATE|DELETE\s+FROM|REPLACE\s+INTO|MERGE\s+INTO|TRUNCATE|DROP\s+TABLE|ALTER\s+TABLE)` +
	`(\s+(OR\s+\w+|ONLY|TABLE|IF\s+EXISTS))*\s*(["'` + "`" + `\[(]*(\w+"?\.)?["\[]?events(_\w+)?\b|%|$)` +
	`|INSERT\s+OR\s+REPLACE\s+INTO\s+["\[]?(events\b|%|$)` +
	`|INSERT\s+INTO\s+["\[]?events\b[^;]*\bDO\s+UPDATE\b)`)

// growth matches statements that change the table but not its rows: a new column, and
// row-level security.
var growth = regexp.MustCompile(`(?i)\bALTER\s+TABLE\s+(events|%I)\s+` +
	`(ADD\s+COLUMN\b[^,;]*;|(ENABLE|FORCE)\s+ROW\s+LEVEL\s+SECURITY[;']|ALTER\s+COLUMN\s+tenant\s+SET\s+DEFAULT\s+pawl_tenant\(\)')`)

// rewrites returns the forbidden statements of a Go or SQL source.
func rewrites(t *testing.T, name, source string) (found []string) {
	t.Helper()
	texts := []string{regexp.MustCompile(`(?s)--[^\n]*|/\*.*?\*/`).ReplaceAllString(source, " ")}
	if strings.HasSuffix(name, ".go") {
		texts = stringsOf(t, name, source)
	}
	for _, text := range texts {
		text = regexp.MustCompile(`(?i)\bFOR\s+(NO\s+KEY\s+)?UPDATE\b`).ReplaceAllString(text, "") // a row lock
		text = growth.ReplaceAllString(text, "")
		found = append(found, rewrite.FindAllString(text, -1)...)
	}
	return found
}

// stringsOf returns the string literals of a Go source. Literals joined by + are one.
func stringsOf(t *testing.T, name, source string) (texts []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var join func(e ast.Expr) string
	join = func(e ast.Expr) string {
		switch e := e.(type) {
		case *ast.BasicLit:
			text, err := strconv.Unquote(e.Value)
			if e.Kind != token.STRING || err != nil {
				return ""
			}
			return text
		case *ast.BinaryExpr:
			return join(e.X) + join(e.Y)
		case *ast.ParenExpr:
			return join(e.X)
		}
		return "%" // known only at run time
	}
	ast.Inspect(file, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		switch e.(type) {
		case *ast.BasicLit, *ast.BinaryExpr:
			texts = append(texts, join(e))
			return false
		}
		return true
	})
	return texts
}

func TestRewritesAreFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, source string
		bad          bool
	}{
		{"a.sql", "UPDATE events SET body = '{}'", true},
		{"a.sql", "update\n  only public.events set seq = 1", true},
		{"a.sql", `DELETE FROM "events" WHERE seq < 5`, true},
		{"a.sql", "DELETE FROM events_07", true},
		{"a.sql", "TRUNCATE TABLE events", true},
		{"a.sql", "TRUNCATE events", true},
		{"a.sql", "DROP TABLE IF EXISTS events CASCADE", true},
		{"a.sql", "ALTER TABLE events DROP COLUMN body", true},
		{"a.sql", "ALTER TABLE events ALTER COLUMN body TYPE text", true},
		{"a.sql", "ALTER TABLE events ADD COLUMN x text, DROP COLUMN body;", true},
		{"a.sql", "EXECUTE format('ALTER TABLE %I DROP COLUMN body', name)", true},
		{"a.sql", "INSERT OR REPLACE INTO events VALUES (1)", true},
		{"a.sql", "REPLACE INTO events VALUES (1)", true},
		{"a.sql", "UPDATE OR REPLACE events SET seq = 1", true},
		{"a.sql", "INSERT INTO events VALUES (1) ON CONFLICT (seq) DO UPDATE SET body = ''", true},
		{"a.go", "package a\nconst q = `WITH x AS (DELETE FROM events RETURNING 1) SELECT 1`", true},
		{"a.go", `package a; const q = "DELETE " + "FROM " + ("events")`, true},
		{"a.go", `package a; func f(table string) string { return "DELETE FROM " + table }`, true},
		{"a.go", `package a; import "fmt"; func f(table string) string { return fmt.Sprintf("UPDATE %s SET x = 1", table) }`, true},

		{"a.sql", "INSERT INTO events VALUES (1) ON CONFLICT DO NOTHING", false},
		{"a.sql", "CREATE TABLE events (seq integer)", false},
		{"a.sql", "UPDATE sessions SET head = 1; INSERT INTO events VALUES (1)", false},
		{"a.sql", "ALTER TABLE events ADD COLUMN tenant text NOT NULL DEFAULT ''; CREATE TABLE x (y text)", false},
		{"a.sql", "EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name)", false},
		{"a.sql", "DELETE FROM leases -- never DELETE FROM events", false},
		{"a.sql", "REFERENCES sessions ON DELETE CASCADE", false},
		{"a.go", "package a\n// f would UPDATE events.\nconst q = `SELECT 1 FROM events FOR UPDATE`", false},
		{"a.go", `package a; const q = "INSERT INTO drafts VALUES (1) ON CONFLICT (id) DO UPDATE SET body = 2"`, false},
	} {
		if found := rewrites(t, c.name, c.source); (len(found) > 0) != c.bad {
			t.Errorf("%s: found %q, want bad = %t", c.source, found, c.bad)
		}
	}
}
