package manifest

import (
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/naming"
)

// factNames are the facts that files of users' own state, with what such a member is called and what its text is like.
var factNames = []struct {
	fact       string
	name, like *lazyregexp.Regexp
}{
	{"model", lazyregexp.New(`(?i)^(?:hf_?)?model(?:_?(?:id|name|path|repo))?$`), lazyregexp.New(`[A-Za-z]\w*[-_. /]\w`)},
	{"device", lazyregexp.New(`(?i)^(?:hardware|device|gpu|accelerator|chip)(?:_?(?:name|model|type))?$`),
		lazyregexp.New(`(?i)[a-z].*\d|\d.*[a-z]|\w{3,} \w+`)},
	{"engine", lazyregexp.New(`(?i)^(?:engine|backend|runtime|framework|server)(?:_?name)?$`),
		lazyregexp.New(`(?i)^` + engines)},
	{"version", lazyregexp.New(`(?i)^(?:engine|backend|server|vllm|sglang|trt\w*|llama_?cpp)_?version`),
		lazyregexp.New(`\d`)},
}

// ProposeFacts returns where a JSON file of a user's own seems to state facts, as an entry of FactsFrom has it: of each
// wanted fact the first member that is called so, of the object or of one in it. It is a guess, for a person to accept.
func ProposeFacts(data []byte, wanted []string) map[string]string {
	const depth = 16
	out := map[string]string{}
	var search func(v decode.Value, above string, levels int)
	search = func(v decode.Value, above string, levels int) {
		for _, m := range v.Members() {
			text := m.Val.Text()
			for _, f := range factNames {
				if out[f.fact] == "" && slices.Contains(wanted, f.fact) && f.name.MatchString(m.Key) && f.like.MatchString(text) {
					out[f.fact] = above + m.Key
				}
			}
		}
		for _, m := range v.Members() {
			if levels > 0 && m.Val.Kind() == decode.Object {
				search(m.Val, above+m.Key+".", levels-1)
			}
		}
	}
	search(decode.Parse(data, depth), "", 2)
	return out
}

// MayBeOneModel reports that two names may be of one model, as its id and the name under which it is served are: the
// words of one, but for a precision, are among those of the other, and they state no two precisions.
func MayBeOneModel(a, b string) bool {
	if p, q := naming.Precision(a), naming.Precision(b); p != "" && q != "" && p != q {
		return false
	}
	words := func(name string) []string {
		return strings.FieldsFunc(strings.ToLower(naming.WithoutPrecision(name)), func(c rune) bool {
			return strings.ContainsRune("-_./ ", c)
		})
	}
	x, y := words(a), words(b)
	if len(x) > len(y) {
		x, y = y, x
	}
	isOther := func(word string) bool { return !slices.Contains(y, word) }
	return len(x) > 0 && !slices.ContainsFunc(x, isOther)
}
