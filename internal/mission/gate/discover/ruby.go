package discover

import (
	"regexp"
	"strings"

	"github.com/pawl-dev/pawl"
)

var (
	specFile     = regexp.MustCompile(`^spec/.*_spec\.rb$`)
	minitestFile = regexp.MustCompile(`^test/(.*/)?(test_[^/]+|[^/]+_test)\.rb$`)
	rakeTest     = regexp.MustCompile(`\b(Rake|Minitest)::TestTask\b|\btask\s*\(?\s*:?['"]?test\b`)
)

const minitestScript = `Dir["test/**/{test_*,*_test}.rb"].sort.each { |file| require File.expand_path(file) }`

// ruby finds RSpec, tests of Rails, a test task of Rake, and minitest. Gems must be installed.
func ruby(t *tree) (list []Found) {
	for _, d := range outermost(t.directories("Gemfile", "Rakefile", ".rspec", "gems.rb")) {
		list = append(list, rubyTests(d)...)
	}
	top := directory{t, ""}
	if len(list) == 0 {
		list = rubyTests(top)
	}
	return list
}

func rubyTests(d directory) (list []Found) {
	var bundle []string
	if d.has("Gemfile", "gems.rb") {
		bundle = []string{"bundle", "exec"}
	}
	if files := d.files(specFile); len(files) > 0 {
		args := join(bundle, "rspec", "--no-color", "--format", "progress", "--format", "json", "--out", reportJSON)
		list = append(list, d.check("rspec", pawl.CheckTest, files[0], "is a specification of RSpec", args...).reports("rspec", reportJSON))
	}
	files := d.files(minitestFile)
	switch {
	case len(files) == 0:
	case strings.Contains(d.text("bin/rails"), "rails"):
		list = append(list, d.check("rails-test", pawl.CheckTest, "bin/rails", "runs the tests of a Rails application", "ruby", "bin/rails", "test"))
	case rakeTest.MatchString(d.text("Rakefile")):
		list = append(list, d.check("rake-test", pawl.CheckTest, "Rakefile", "has a task for tests", join(bundle, "rake", "test")...))
	default:
		args := join(bundle, "ruby", "-Ilib", "-Itest", "-e", minitestScript)
		list = append(list, d.check("minitest", pawl.CheckTest, files[0], "is a test of minitest", args...))
	}
	return list
}
