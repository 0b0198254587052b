// Package chart places the small pictures that stand in a page: panels, sparklines and strips.
//
// In go views of package render; out go positions in the units of the picture's own width and height, which the
// templates of figures write as SVG. Figures that readers work with are not here: package echarts describes those.
// The package must not know how a picture looks: colours, classes and text sizes are the templates'.
package chart
