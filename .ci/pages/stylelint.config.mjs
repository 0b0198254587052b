// Rules for site.css: what is an error, or says the same twice.
const on = `block-no-empty color-no-invalid-hex custom-property-no-missing-var-function
  declaration-block-no-duplicate-properties declaration-block-no-shorthand-property-overrides declaration-no-important
  font-family-no-duplicate-names function-calc-no-unspaced-operator length-zero-no-unit media-feature-name-no-unknown
  named-grid-areas-no-invalid no-duplicate-selectors no-invalid-double-slash-comments property-no-unknown
  selector-pseudo-class-no-unknown selector-pseudo-element-no-unknown selector-type-no-unknown
  shorthand-property-no-redundant-values unit-no-unknown`;
const rules = Object.fromEntries(on.split(/\s+/).map((name) => [name, true]));
export default { rules: { ...rules, "color-named": "never" } };
