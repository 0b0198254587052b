package manifest

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/schema/naming"
)

// Named is a file with results: its path, and the model that it states itself, "" for none.
type Named struct{ Path, Model string }

type guess struct {
	fact string
	like *lazyregexp.Regexp
}

// guesses are facts that folders and files are named after, with what such a name looks like. The first group is where
// the fact begins.
var guesses = []guess{
	{"release", lazyregexp.New(`(?i)(?:^|[-_ ])((?:` + naming.Day + `|[0-3]?\d[-_.][0-3]?\d[-_.]20\d\d|` +
		naming.BuildNumber + `|[0-9a-f]*\d[0-9a-f]{6,39})$|v\d+(?:\.\d+)+)|^(\d+\.\d+\.\d)`)},
	{"device", lazyregexp.New(`(?i)(?:^|[-_ .])((?:(?:nvidia|amd|intel|apple|tenstorrent)[-_ ])?` +
		`(?:[hb][123]00|gb[123]0+|[av]100|a10g?|a[456]000|l40s?|l4|t4|p1[05]0[abc]?|n[13][05]0|e150|t3k|galaxy|` +
		`mi\d{2,3}[xa]?|gaudi-?\d?|tpu[-_]?v\d\w*|(?:(?:rtx|gtx)[-_ ])?pro[-_ ]?[456]000(?:[-_ ]blackwell)?|` +
		`(?:rtx|gtx)[-_ ]?\w+|[345]0[6-9]0(?:ti)?|ada[-_ ]?\d+|r9700|` +
		`(?:ascend|cambricon|enflame|hygon|iluvatar|kunlun|metax|moore[-_]?threads)[-_ ]?\w*|` +
		`w7900|7900[-_ ]?xtx?|gfx\d+|8060s|strix|(?:dgx[-_ ]?)?spark|m[1-5](?:[-_ ]?(?:pro|max|ultra))?|xeon|epyc|` +
		`orin|thor))(?:$|[-_ x]|\.(?:\D|$)|halo)`)},
	{"model", modelLike},
	{"impl", lazyregexp.New(`(?i)^(` + engines + `)`)},
}

// modelLike is what the name of a model looks like.
var modelLike = lazyregexp.New(
	`(?i)(` + naming.Families + ofFamily + `|[a-z][\w.-]*?[-_.]a?\d+(?:\.\d+)?[bm](?:$|[-_.]))`)

// IsModel reports a name that looks like that of a model.
func IsModel(name string) bool { return modelLike.MatchString(name) }

// ofFamily is what follows the family in the name of a model: its end, a number, or a kind of model. llamacpp and
// qwen_quantization are none.
const ofFamily = `(?:$|[-_. ]?v?\d|[-_. ]?(?:[a-z]\d|instruct|chat|coder|code|base|it|oss|nemo|small|large|medium|` +
	`mini|vl|math|distill|moe|flash|air|plus|pro|nano|next|turbo|guard|scout|maverick|lite|super|ultra)(?:$|[-_. ]))`

// engines are what the names of implementations begin with.
const engines = `(?:rocm|vulkan|cuda|metal|cpu|sycl|hip|vllm|sglang|trt|tensorrt|tgi|mlx|llama[-_.]?cpp|exllama|` +
	`triton|aiter|tt[-_]|forge|lmdeploy|ollama)`

// ofSetup matches parts of a name that say with what something was measured, or how its weights are stored.
var ofSetup = lazyregexp.New(`(?i)(?:^|[-_. ])(?:` + engines + `|gpu|npu|f16|f32|baseline|opencl|openvino|onnx|` +
	`transformers|hf)(?:[-_.]?\d[\d.]*)?`)

// IsSetup reports a name that says nothing but an engine, a precision, a day or a number, and names no model.
func IsSetup(name string) bool {
	return naming.IsCount(ofSetup.ReplaceAllString(naming.WithoutPrecision(name), ""))
}

// load is where the name of a file goes on to its load, after what was measured.
var load = lazyregexp.New(`(?i)[-_](?:tp|pp|dp|ep|isl|osl|in|qps|rate|conc|concurrency|bs|batch|np?|c|run|rep|` +
	`ctx)[-_=]?\d`)

// ofTest matches what a name says of the test, between the model and the load.
var ofTest = lazyregexp.New(`(?i)[-_](?:latency|throughput|serving|bench(?:mark)?|perf|offline|online)$`)

// versus is in a name that is of several: h100_vs_mi300x.
var versus = lazyregexp.New(`(?i)[-_ .](?:vs|versus)[-_ .]`)

const (
	fieldSeparator = "__"
	levels         = 6 // of a path: the file and folders above it
)

// Propose returns a pattern that reads facts from the paths of files, as most of their names suggest; "" where these
// suggest none of them. It is a guess, for a person to accept.
func Propose(files []Named, wanted []string) string {
	left, out := slices.Clone(wanted), ""
	highest, fact := 0, "" // the level furthest above the files that states one, and that
	for level := range levels {
		part := "*"
		var names []Named
		for _, f := range files {
			if folders := strings.Split(f.Path, "/"); len(folders) > level {
				names = append(names, Named{folders[len(folders)-1-level], f.Model})
			}
		}
		if len(names) == 0 || 2*len(names) < len(files) {
			break
		}
		isTop, isMixed := topOf(files, level)
		if isTop && !slices.ContainsFunc(names, func(n Named) bool { return n.Path != names[0].Path }) {
			left = slices.DeleteFunc(left, func(fact string) bool { return !isNamedAs(fact, names[0].Path) })
		}
		if named, facts := nameFacts(names, len(files), level == 0, left); len(facts) > 0 && !isMixed {
			part, highest, fact = named, level, facts[0]
			left = slices.DeleteFunc(left, func(fact string) bool { return slices.Contains(facts, fact) })
		}
		if out = part + "/" + out; len(left) == 0 {
			break
		}
	}
	for strings.HasPrefix(out, "*/") {
		out = out[2:]
	}
	if out = strings.TrimSuffix(out, "/"); highest > 0 {
		out = folderOf(files, highest, fact) + out
	}
	if _, err := NewPattern(out); err != nil || out == "*" {
		return "" // a name may hold what a pattern means
	}
	return out
}

// folderOf is the folder, with a slash, that has all that are named after a fact at a level and nothing else; "" for
// none, and where nothing is called otherwise.
func folderOf(files []Named, level int, fact string) string {
	at := slices.IndexFunc(guesses, func(g guess) bool { return g.fact == fact })
	above, other := map[string]bool{}, map[string]bool{}
	for _, f := range files {
		folders := strings.Split(f.Path, "/")
		i := len(folders) - 1 - level
		switch {
		case i < 1: // which the pattern does not match
		case guesses[at].like.MatchString(folders[i]):
			above[folders[i-1]] = true
		default:
			other[folders[i-1]] = true
		}
	}
	for name := range above {
		if len(above) == 1 && len(other) > 0 && !other[name] && !strings.ContainsAny(name, `*?[]{}\`) {
			return name + "/"
		}
	}
	return ""
}

// Apart is the folder that paths share, and the fact that the names look like which they do not share below it; config
// where they look like none.
func Apart(paths ...string) (root, fact string) {
	split, shared := make([][]string, len(paths)), 0
	for i, p := range paths {
		split[i] = strings.Split(p, "/")
	}
	isShared := func(s []string) bool { return shared+1 < len(s) && s[shared] == split[0][shared] }
	for shared+1 < len(split[0]) && !slices.ContainsFunc(split, func(s []string) bool { return !isShared(s) }) {
		shared++
	}
	parts := naming.Parts(paths)
	isOfAll := func(part string) bool {
		return !slices.ContainsFunc(parts, func(of []string) bool { return !slices.Contains(of, part) })
	}
	for _, g := range guesses[1:] { // builds are told apart by their times
		isLike := func(part string) bool {
			return !isOfAll(part) && (g.like.MatchString(part) || g.fact == "device" && accelerator.MatchString(part))
		}
		if !slices.ContainsFunc(parts, func(of []string) bool { return !slices.ContainsFunc(of, isLike) }) {
			return cmp.Or(strings.Join(split[0][:shared], "/"), "."), g.fact
		}
	}
	return cmp.Or(strings.Join(split[0][:shared], "/"), "."), "config"
}

// ProposeConfig returns a pattern that reads as a configuration what folders are called, the nearest to the files whose
// names differ by more than a date or a number; "" where none do. A time that all names begin with is no part of it,
// and one elsewhere would be: each night would be a configuration of its own.
func ProposeConfig(files []Named) string {
	for level := 1; level < levels; level++ {
		var names []string
		for _, f := range files {
			folders := strings.Split(f.Path, "/")
			if len(folders) <= level {
				return ""
			}
			names = append(names, folders[len(folders)-1-level])
		}
		if naming.Differences(names) == nil || slices.ContainsFunc(names, ofLengths.MatchString) {
			continue
		}
		time := ofTime.FindString(names[0])
		begin := number.ReplaceAllString(time, "{_}")
		isOther := func(name string) bool {
			is := ofTime.FindString(name)
			return number.ReplaceAllString(is, "{_}") != begin || ofDay.MatchString(name[len(is):])
		}
		if slices.ContainsFunc(names, isOther) {
			return ""
		}
		return begin + "{config}" + strings.Repeat("/*", level)
	}
	return ""
}

// ofLengths matches a name that states an ISL and an OSL, as of a workload.
var ofLengths = lazyregexp.New(`(?i)(?:^|[-_])(?:isl|i|in|input)[-_=]?\d+[-_](?:osl|o|out|output)[-_=]?\d+`)

// ofTime is a day, and perhaps a time, that a name begins with.
var (
	ofTime = lazyregexp.New(`^` + naming.Day + `[Tt_-](?:\d\d[-:]?\d\d(?:[-:]?\d\d)?Z?[-_])?`)
	number = lazyregexp.New(`\d+`)
)

// accelerator is a name that says which kind of device something ran on.
var accelerator = lazyregexp.New(`(?i)(?:^|[-_. ])(?:gpu|tpu|npu|cpu|xpu|hpu)\d*(?:$|[-_. ])`)

// topOf reports that nothing is above the folders of a level, or that some files lie beside these: in their place those
// have the folder of all.
func topOf(files []Named, level int) (isTop, isMixed bool) {
	isTop = level > 0
	root, _, _ := strings.Cut(files[0].Path, "/")
	share := true // a folder; where it was read as ".", each path begins with a folder of its own
	for _, f := range files {
		depth := strings.Count(f.Path, "/")
		isTop, isMixed = isTop && depth <= level, isMixed || level > 0 && depth == level
		share = share && strings.HasPrefix(f.Path, root+"/")
	}
	return isTop, isMixed && share && !isTop
}

// isNamedAs reports that the folder in which all files are is called like a fact and nothing else: most are clones of a
// repository, whose names say what it is about.
func isNamedAs(fact, folder string) bool {
	for _, g := range guesses {
		if m := g.like.FindStringSubmatchIndex(folder); g.fact == fact && m != nil {
			return m[0] == 0 && (fact == "model" || m[1] == len(folder))
		}
	}
	return false
}

// nameFacts is the part of a pattern for names of one level, and the facts that it reads from most of them.
func nameFacts(names []Named, of int, isFile bool, wanted []string) (part string, facts []string) {
	var fields [][]string
	least, most, ext := len(names[0].Path), 0, path.Ext(names[0].Path)
	for _, n := range names {
		f := strings.Split(n.Path, fieldSeparator)
		fields, least, most = append(fields, f), min(least, len(f)), max(most, len(f))
		if path.Ext(n.Path) != ext {
			ext = "" // of several kinds
		}
	}
	if least <= 1 {
		return nameFact(names, of, isFile, wanted)
	}
	known := least // fields that end where a pattern can say
	if most > least || isFile && ext == "" {
		known--
	}
	last := 0
	parts := slices.Repeat([]string{"*"}, least)
	for i := range known {
		if fact := factOf(fields, i, of, wanted); fact != "" && !slices.Contains(facts, fact) {
			parts[i], facts, last = "{"+fact+"}", append(facts, fact), i+1
		}
	}
	for i := range last {
		if parts[i] == "*" { // which would also take the separator
			parts[i] = "{_}"
		}
	}
	if last == least && isFile {
		parts[last-1] += ext
	}
	return strings.Join(parts[:min(least, last+1)], fieldSeparator), facts
}

// builds is the part of a pattern for files most of whose names say a build, and the facts that it reads from them:
// the release, and the model before or behind it where files do not state it alike.
func builds(names []Named, of int, isFile bool, wanted []string) (part string, facts []string) {
	var before, release, behind []string
	var list []Named
	for _, n := range names {
		if from, to, ok := naming.BuildIn(naming.Stem(n.Path)); ok {
			before, release = append(before, n.Path[:from]), append(release, n.Path[from:to])
			behind, list = append(behind, n.Path[to:]), append(list, n)
		}
	}
	if !isFile || len(list) == 0 || 2*len(list) < of || !slices.Contains(wanted, "release") {
		return "", nil
	}
	part, facts = aroundBuild(list, before, behind, slices.Contains(wanted, "model"))
	p, err := NewPattern(part)
	for i := range list { // what it reads may end at another separator
		f, _, _, _, ok := p.Match(list[i].Path)
		if err != nil || !ok || f.Release != release[i] {
			return "", nil
		}
	}
	return part, facts
}

// aroundBuild is that part, with what stands before and behind the builds. Of what differs only its separator is known.
func aroundBuild(names []Named, before, behind []string, wantsModel bool) (part string, facts []string) {
	separator := func(text string) string { return text[:min(1, len(text))] }
	front, back := before[0], behind[0]
	if !areOne(before) {
		front = "*" + front[max(0, len(front)-1):]
	}
	if !areOne(behind) || back != path.Ext(back) { // the next night may be repeated more often
		back = separator(back) + "*"
	}
	tail := behindModel(names, behind)
	switch {
	case wantsModel && !areOne(before) && areModels(before):
		return "{model}" + front[1:] + "{release}" + back, []string{"model", "release"}
	case wantsModel && tail != "":
		return front + "{release}" + separator(back) + "{model}" + tail, []string{"release", "model"}
	}
	return front + "{release}" + back, []string{"release"}
}

func areOne(list []string) bool { return len(slices.Compact(slices.Sorted(slices.Values(list)))) == 1 }

// areModels reports that texts begin with what the name of a model looks like.
func areModels(list []string) bool {
	isOther := func(text string) bool {
		at := modelLike.FindStringSubmatchIndex(text)
		return at == nil || at[2] != 0
	}
	return !slices.ContainsFunc(list, isOther)
}

// behindModel is what follows the model in names that go on with one behind their build, as a part of a pattern; ""
// where they do not, where that differs, and where the files state the model so.
func behindModel(names []Named, behind []string) (tail string) {
	areStated := true
	for i, text := range behind {
		end, this := len(text)-len(path.Ext(text)), path.Ext(text)
		if end < 2 {
			return ""
		}
		if at := strings.Index(text[1:], "_"); text[0] == '_' && at >= 0 {
			end, this = at+1, "_*"
		} else if at := load.FindStringIndex(text[1:]); at != nil {
			end, this = at[0]+1, strings.TrimRight(text[at[0]+1:at[1]+1], "0123456789")+"*"
		}
		if !areModels([]string{text[1:end]}) || besides.MatchString(text[1:end]) || i > 0 && this != tail {
			return ""
		}
		tail, areStated = this, areStated && strings.EqualFold(text[1:end], names[i].Model)
	}
	if areStated {
		return ""
	}
	return tail
}

// factOf is the wanted fact that a field of most names looks like; "" for none.
func factOf(fields [][]string, i, of int, wanted []string) string {
	for _, g := range guesses {
		n := 0
		for _, f := range fields {
			if at := g.like.FindStringIndex(f[i]); at != nil && at[0] == 0 {
				n++
			}
		}
		if 2*n >= of && slices.Contains(wanted, g.fact) {
			return g.fact
		}
	}
	return ""
}

// nameFact is the part of a pattern for names that state one fact, with what stands before and behind it in most.
func nameFact(names []Named, of int, isFile bool, wanted []string) (part string, facts []string) {
	if part, facts := builds(names, of, isFile, wanted); part != "" {
		return part, facts
	}
	for _, g := range guesses {
		if !slices.Contains(wanted, g.fact) || isFile && g.fact != "model" {
			continue
		}
		shapes := map[string]int{}
		for _, n := range names {
			isModel := g.fact == "release" && modelFirst.MatchString(n.Path) // deepseek-v3.2
			if m := g.like.FindStringSubmatchIndex(n.Path); m != nil && !isModel && !versus.MatchString(n.Path) {
				shapes[shapeOf(n, max(m[2], 0), g.fact, isFile)]++
			}
		}
		delete(shapes, "")
		for shape, n := range shapes {
			if 2*n >= of && shape > part {
				part = shape
			}
		}
		if part != "" {
			return part, []string{g.fact}
		}
	}
	return "", nil
}

// chips is how many devices there are, before their name: gpu_2x_h200.
var chips = lazyregexp.New(`(^|[-_ ])\d+x([-_ ])$`)

// modelFirst matches a name that begins with a family of models.
var modelFirst = lazyregexp.New(`(?i)^(?:[a-z]+[-_])?` + naming.Families)

// besides is what a name of a file says beside its model.
var besides = lazyregexp.New(`(?i)20\d\d|\d{6}|result|bench|eval|summary|report|log|run[-_]?\d|[-_]ppl|` +
	`perplexity|fidelity|compression|latency|throughput|metric|[-_](?:tp|rocm|vulkan|cuda)`)

// parallel matches over how many devices a model is spread, at the end of the name of a folder.
var parallel = lazyregexp.New(`(?i)([-_](tp|pp|dp|ep))\d+$`)

// ofDay matches a day in a name.
var ofDay = lazyregexp.New(naming.Day)

// shapeOf is a name as a pattern, with a placeholder from where its fact begins; "" for none.
func shapeOf(n Named, begin int, fact string, isFile bool) string {
	if fact == "model" {
		return shapeOfModel(n, begin, isFile)
	}
	return chips.ReplaceAllString(n.Path[:begin], "${1}{chips}x${2}") + "{" + fact + "}"
}

// shapeOfModel is the same of a model; "" for a file which says more than that and its load, and where each build or
// workload would be a model of its own.
func shapeOfModel(n Named, begin int, isFile bool) string {
	behind := ""
	_, _, isBuilt := naming.BuildIn(n.Path)
	over := parallel.FindStringSubmatch(n.Path)
	switch end := load.FindStringIndex(n.Path); {
	case over != nil && !isFile: // a configuration, not another model
		behind = over[1] + "{" + strings.ToLower(over[2]) + "}"
	case end == nil && !isFile:
	case end == nil && (begin > 0 || isBuilt || besides.MatchString(n.Path)):
		return ""
	case end == nil:
		behind = path.Ext(n.Path)
	case isBuilt || ofDay.MatchString(n.Path[:end[0]]) || !isFile && n.Model != "":
		return ""
	default:
		kind := ofTest.FindString(n.Path[:end[0]])
		behind = kind + strings.TrimRight(n.Path[end[0]:end[1]], "0123456789") + "*"
	}
	return organisation(n) + "{model}" + behind
}

// organisation is what ignores the organisation before the model that a file states, as in RedHatAI_Qwen3-14B.
func organisation(n Named) string {
	at := strings.IndexByte(n.Path, '_')
	if at > 0 && n.Model != "" && strings.HasPrefix(strings.ToLower(n.Path[at+1:]), strings.ToLower(n.Model)) {
		return "{_}_"
	}
	return ""
}
