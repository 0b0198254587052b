package draft

import (
	"regexp"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
)

// commitOf matches a commit of a repository of weights.
var commitOf = regexp.MustCompile(`^[0-9a-f]{7,40}$`)

// Revision states which weights of a model were measured. A commit is a fact about the build; a branch or a tag, such
// as a step of training, is other weights and part of the model's name.
func Revision(f *schema.Facts, revision string) {
	switch {
	case revision == "" || revision == "main":
	case commitOf.MatchString(revision):
		f.Stack.Commits = map[string]string{schema.ModelCommit: revision}
	case f.Model.ID != "":
		f.Model.ID += "@" + strings.ReplaceAll(revision, "/", "-")
	}
}
