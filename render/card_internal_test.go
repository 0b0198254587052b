package render

import "testing"

// Whiskers of two models or devices say which each is of; those of one leave it to the sentence above.
func TestWhiskersNameTheirSystem(t *testing.T) {
	one := []Whisker{{Of: "a on n150"}, {Of: "a on n150"}}
	two := []Whisker{{Of: "a on n150"}, {Of: "a on t3k"}, {Of: "a on n150"}}
	nameSystems(nil)
	nameSystems(one)
	nameSystems(two)
	if one[0].Of != "" || one[1].Of != "" {
		t.Errorf("one system is named at each: %+v", one)
	}
	if two[0].Of != "a on n150" || two[1].Of != "a on t3k" || two[2].Of == "" {
		t.Errorf("two systems are not told apart: %+v", two)
	}
}
