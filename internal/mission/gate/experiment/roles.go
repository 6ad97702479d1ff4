package experiment

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission/gate/mutate"
)

// role is what a changed file is for.
type role int

const (
	product role = iota // source code of the product
	data                // other files that the product may use
	test                // tests, and files that only tests use
	setting             // configuration of builds and tests
	text                // documentation, and configuration of other tools
)

var (
	testDirs = regexp.MustCompile(`(^|/)(tests?|__tests__|specs?|testdata|test-data|fixtures?|__fixtures__|__snapshots__|__mocks__|goldens?|e2e|testutils?|testing_utils)/`)
	testName = regexp.MustCompile(`(^|/)(conftest\.py|test_[^/]*\.py|[^/]*_tests?\.(py|go|exs|rb|c|cc|cpp|rs|sh)|tests?\.(py|rs|sh|js|mjs|cjs|ts|php|rb|pl|c|cpp)|` +
		`[^/]*\.(test|spec)\.[cm]?[jt]sx?|test[-_][^/]*\.([cm]?[jt]s|sh|c|cpp|rb|php)|[^/]*-test\.[cm]?[jt]sx?|[^/]*(Test|Tests|Spec|IT)\.(java|kt|scala|php|cs|swift|groovy)|[^/]*_spec\.rb|[^/]*\.(snap|bats|t|golden)|run[-_]?tests?(\.[a-z]+)?|test[-_]runner\.[a-z]+|[^/]*test[-_]?helpers?\.[a-z]+)$`)
	settingName = regexp.MustCompile(`(?i)(^|/)(pytest\.ini|tox\.ini|setup\.(cfg|py)|pyproject\.toml|noxfile\.py|requirements[^/]*\.txt|uv\.lock|poetry\.lock|pipfile(\.lock)?|` +
		`package(-lock)?\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|pnpm-workspace\.yaml|\.npmrc|\.yarnrc(\.yml)?|bunfig\.toml|(jest|vitest|vite|babel|playwright|karma|webpack|rollup|esbuild)\.[^/]*config[^/]*|(jest|vitest|playwright|karma|babel|vite|webpack|rollup)\.config\.[a-z]+|\.mocharc[^/]*|\.babelrc[^/]*|tsconfig[^/]*\.json|\.nycrc[^/]*|\.c8rc[^/]*|` +
		`go\.(mod|sum|work|work\.sum)|cargo\.(toml|lock)|\.cargo/config(\.toml)?|build\.rs|rust-toolchain(\.toml)?|` +
		`pom\.xml|[^/]*\.gradle(\.kts)?|gradle\.properties|(gnu)?makefile|[^/]*\.mk|cmakelists\.txt|[^/]*\.cmake|meson\.build|meson_options\.txt|justfile|taskfile\.ya?ml|rakefile|gemfile(\.lock)?|composer\.(json|lock)|phpunit\.xml(\.dist)?|mix\.(exs|lock)|package\.swift|[^/]*\.csproj|[^/]*\.sln|build(\.bazel)?|workspace(\.bazel)?|module\.bazel|\.coveragerc|\.env[^/]*|sitecustomize\.py|usercustomize\.py)$`)
	textName = regexp.MustCompile(`(?i)(^|/)(readme|changelog|changes|licen[cs]e|copying|notice|authors|contributing|security|code_of_conduct|agents|claude|codeowners|todo)(\.[a-z]+)?$|` +
		`\.(md|markdown|rst|adoc|org|txt|pdf|png|jpe?g|gif|svg|webp|ico)$|(^|/)(docs?|\.github|\.gitlab|\.circleci|\.vscode|\.idea|\.devcontainer|\.husky|changelog)/|` +
		`(^|/)(\.gitlab-ci\.yml|\.travis\.yml|azure-pipelines\.yml|jenkinsfile|\.gitignore|\.gitattributes|\.gitmodules|\.editorconfig|\.prettierrc[^/]*|\.prettierignore|\.eslint[^/]*|eslint\.config\.[a-z]+|\.golangci\.[a-z]+|\.flake8|\.pylintrc|mypy\.ini|ruff\.toml|\.ruff\.toml|\.pre-commit-config\.yaml|\.dockerignore|dockerfile[^/]*|renovate\.json|dependabot\.yml|\.pawl/.*)$`)
)

// noCode are languages that do nothing by themselves.
var noCode = []string{"JSON", "YAML", "TOML", "CSS", "SQL"}

// assignRoles finds out what the changed files are for. The reports of the test runners come first, then rules of
// compilers and runners about names.
func (x *experiments) assignRoles() {
	reported := x.reportedFiles()
	x.roles = map[string]role{}
	for _, p := range x.changed {
		x.roles[p] = x.roleOf(p, reported)
	}
}

func (x *experiments) roleOf(p string, reported map[string]bool) role {
	src, isSource := x.source(p)
	isSource = isSource && !slices.Contains(noCode, src.Language())
	switch {
	case reported[p], x.isCheck(p):
		return test
	case settingName.MatchString(p):
		return setting
	case strings.HasSuffix(p, "_test.go"), testName.MatchString(p):
		return test
	case testDirs.MatchString(p):
		if isSource && (x.usedByProduct(p) || x.isGoPackage(p)) {
			return product
		}
		return test
	case textName.MatchString(p):
		return text
	case isSource:
		return product
	default:
		return data
	}
}

// isCheck reports whether a file is the program of a check, or a script that it runs.
func (x *experiments) isCheck(p string) bool {
	return slices.ContainsFunc(x.Checks, func(c pawl.Check) bool {
		return slices.ContainsFunc(c.Args, func(arg string) bool { return path.Join(c.Dir, arg) == p && testLike(c, arg) })
	})
}

// testLike reports whether an argument of a check is a script to run: the program, or the first argument that is no flag.
func testLike(c pawl.Check, arg string) bool {
	for _, a := range c.Args[1:] {
		if !strings.HasPrefix(a, "-") {
			return a == arg
		}
	}
	return c.Args[0] == arg
}

// reportedFiles returns the files that the test runners name in their reports.
func (x *experiments) reportedFiles() map[string]bool {
	files := map[string]bool{}
	for _, s := range []struct {
		of      *side
		results map[string]result
	}{{x.base, x.onBase}, {x.head, x.onHead}} {
		for _, c := range x.Checks {
			r := s.results[c.ID]
			if r.Tests == nil {
				continue
			}
			for holder := range r.Tests.Holders() {
				if p, ok := s.of.fileOf(path.Join(c.Dir, holder), c.Tests); ok && !x.hasInline(p) && !s.of.hasDoctest(p) {
					files[p] = true
				}
			}
		}
	}
	return files
}

// fileOf returns the file of the tests that a runner names by a file, or by a module of Python.
func (s *side) fileOf(holder, format string) (string, bool) {
	if _, ok := s.entries[holder]; ok {
		return holder, true
	}
	if format != "junit" && format != "unittest" {
		return "", false
	}
	for name := strings.ReplaceAll(holder, ".", "/"); name != "." && name != "/"; name = path.Dir(name) {
		if _, ok := s.entries[name+".py"]; ok {
			return name + ".py", true
		}
	}
	return "", false
}

// hasDoctest reports whether a runner names a file of Python because of the examples in it.
func (s *side) hasDoctest(p string) bool {
	if !strings.HasSuffix(p, ".py") || testName.MatchString(p) || testDirs.MatchString(p) {
		return false
	}
	body, _ := s.read(p)
	return bytes.Contains(body, []byte(">>> "))
}

// hasInline reports whether a file has both product code and tests.
func (x *experiments) hasInline(p string) bool {
	src, ok := x.source(p)
	return ok && len(src.InlineTests()) > 0
}

// source returns the source code of a file of the head, or of the base if it was deleted.
func (x *experiments) source(p string) (*mutate.Source, bool) {
	for _, s := range []*side{x.head, x.base} {
		if body, ok := s.read(p); ok {
			return mutate.Parse(p, body)
		}
	}
	return nil, false
}

// isGoPackage reports whether a file is Go code with tests of its own, which is no helper of other tests.
func (x *experiments) isGoPackage(p string) bool {
	if !strings.HasSuffix(p, ".go") || strings.Contains(p, "testdata/") {
		return false
	}
	for other := range x.head.entries {
		if path.Dir(other) == path.Dir(p) && strings.HasSuffix(other, "_test.go") {
			return true
		}
	}
	return false
}

var importLine = regexp.MustCompile(`(?m)^\s*(import|from|use|mod|require|include|#include|source|\.)\b.*|.*\b(require|import|include|source)\b\s*\(?\s*["'<].*`)

// usedByProduct reports whether a source file that is no test imports a file.
func (x *experiments) usedByProduct(p string) bool {
	stem := strings.TrimSuffix(path.Base(p), path.Ext(p))
	word, err := regexp.Compile(`\b` + regexp.QuoteMeta(stem) + `\b`)
	if err != nil {
		return false
	}
	for other := range x.head.entries {
		if other == p || path.Ext(other) != path.Ext(p) || testName.MatchString(other) || testDirs.MatchString(other) {
			continue
		}
		body, ok := x.head.read(other)
		if !ok {
			continue
		}
		if slices.ContainsFunc(importLine.FindAll(body, -1), word.Match) {
			return true
		}
	}
	return false
}

// withRole returns the changed files with one of the roles.
func (x *experiments) withRole(roles ...role) (paths []string) {
	for _, p := range x.changed {
		if r, ok := x.roles[p]; ok && slices.Contains(roles, r) {
			paths = append(paths, p)
		}
	}
	return paths
}

// productFiles returns the changed files with source code or data of the product.
func (x *experiments) productFiles() []string {
	return slices.DeleteFunc(x.withRole(product, data), func(p string) bool {
		return x.roles[p] == data && !x.usedData(p) || !x.behaves(p)
	})
}

// usedData reports whether a data file can matter to the product: somebody names it.
func (x *experiments) usedData(p string) bool {
	name := []byte(path.Base(p))
	for other := range x.head.entries {
		if other == p {
			continue
		}
		if body, ok := x.head.read(other); ok && bytes.Contains(body, name) {
			return true
		}
	}
	return false
}
