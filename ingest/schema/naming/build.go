package naming

import (
	"strings"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
)

// What names call a build, beside a [Day]. Which GPU is called b200 or v100 has three digits.
const (
	BuildNumber  = `(?:build|nightly|weekly|ci|job|pr|release|version)[-_#]?\d+|[bv]\d{4,}`
	buildVersion = `(?:v\d+(?:\.\d+)+|\d+\.\d+\.\d+)(?:[-_.+]?(?:rc|post|dev|alpha|beta)\.?\d*)?`
	buildCommit  = `[0-9a-f]{7,40}`
)

var (
	// isBuild is a whole name: of a folder that holds one build, or one repeat of it.
	isBuild = lazyregexp.New(`(?i)^(?:(?:[a-z]+[-_])?` + Day + `|(?:run|rep|repeat|attempt)[-_#]?\d+|` +
		`(?:(?:release|version)[-_]|v)?\d+\.\d+\.\d+(?:[-_.+]?[a-z]+\d*)?|` +
		BuildNumber + `|` + buildVersion + `|` + buildCommit + `)$`)
	ofBuild = lazyregexp.New(
		`(?i)(?:^|[-_. /])(` + BuildNumber + `|` + buildVersion + `|` + buildCommit + `)(?:$|[-_. /])`)
	// ofModel is before a version that is a model's: deepseek-v3.2.
	ofModel = lazyregexp.New(`(?i)(?:` + anyFamily + `)[-_. ]?$`)
)

// IsBuild reports a name that says which build something is of and nothing else: its day, number, version or commit.
func IsBuild(name string) bool { return isBuild.MatchString(name) }

// BuildIn is where a name says of which build something is by a number, a version or a commit; ok is false for nowhere.
func BuildIn(name string) (from, to int, ok bool) {
	for at := 0; ; at = to {
		m := ofBuild.FindStringSubmatchIndex(name[at:])
		if m == nil {
			return 0, 0, false
		}
		from, to = at+m[2], at+m[3]
		isWord := hash.MatchString(strings.ToLower(name[from:to])) && !isHash(strings.ToLower(name[from:to]))
		if !isWord && !ofModel.MatchString(name[:from]) {
			return from, to, true
		}
	}
}

// WithoutBuilds is a name without what it says of builds.
func WithoutBuilds(name string) string {
	for {
		from, to, ok := BuildIn(name)
		if !ok {
			return name
		}
		name = name[:from] + name[to:]
	}
}

// isHash reports a part of a name that is a hash, and neither a number nor a word.
func isHash(text string) bool {
	return hash.MatchString(text) && strings.ContainsAny(text, "0123456789") && strings.ContainsAny(text, "abcdef")
}
