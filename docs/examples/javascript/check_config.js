// Checks the attributes of a network in JSON by an exported registry:
//   node check_config.js protos/paddle_layers/layer_def.proto registry.binpb network.json
const fs = require("fs");
const protobuf = require("protobufjs");

const [schema, exported, config] = process.argv.slice(2);
const RegistryDef = new protobuf.Root().loadSync(schema, { keepCase: true }).lookupType("paddle_layers.RegistryDef");
const registry = RegistryDef.toObject(RegistryDef.decode(fs.readFileSync(exported)), {
  enums: String, longs: Number, arrays: true,
});
const definitions = new Map(registry.layers.map((definition) => [definition.type, definition]));

const TYPES = {
  INT: ["an integer", Number.isInteger],
  FLOAT: ["a number", (value) => typeof value === "number"],
  DOUBLE: ["a number", (value) => typeof value === "number"],
  BOOL: ["true or false", (value) => typeof value === "boolean"],
  STRING: ["a string", (value) => typeof value === "string"],
  CHOICE: ["a name", (value) => typeof value === "string"],
};
const held = (message) => (message ? Object.values(message)[0] : undefined); // d_value, i_value, ...

function fault(attribute, value) {
  const [words, fits] = TYPES[attribute.type];
  if (!fits(value)) return `must be ${words}, got ${JSON.stringify(value)}`;
  const choices = attribute.choices.map((choice) => choice.name);
  if (choices.length && !choices.includes(value)) return `is "${value}", must be one of ${choices.join(", ")}`;
  const [least, most] = [held(attribute.min_value), held(attribute.max_value)];
  if (value < least || (attribute.min_exclusive && value === least))
    return `is ${value}, must be ${attribute.min_exclusive ? ">" : ">="} ${least}`;
  if (value > most || (attribute.max_exclusive && value === most))
    return `is ${value}, must be ${attribute.max_exclusive ? "<" : "<="} ${most}`;
}

function countFault({ repeated, min_items: least, max_items: most = Infinity }, count) {
  if (repeated && (count < least || count > most)) return `has ${count} values, must have ${least} to ${most}`;
}

function* faults({ type, [type]: block = {} }) {
  const definition = definitions.get(type);
  if (!definition) return yield `unknown layer type "${type}"`;
  const known = new Map(definition.layer_attr.flatMap((one) => [one.name, ...one.aliases].map((name) => [name, one])));
  const given = new Set(Object.keys(block).map((name) => known.get(name)));
  for (const [name, value] of Object.entries(block)) {
    const attribute = known.get(name);
    const values = attribute?.repeated ? [value].flat() : [value];
    const found = attribute
      ? countFault(attribute, values.length) ?? values.map((one) => fault(attribute, one)).find(Boolean)
      : "is not an attribute";
    if (found) yield `${type} ${name} ${found}`;
  }
  for (const one of definition.layer_attr) if (one.required && !given.has(one)) yield `${type} needs ${one.name}`;
}

const { layer: layers } = JSON.parse(fs.readFileSync(config));
const found = layers.flatMap((layer) => [...faults(layer)].map((text) => `layer ${layer.name}: ${text}`));
const sum = found.length ? `${found.length} errors` : "all attributes are legal";
console.log([...found, `${config}: ${layers.length} layers, ${sum}`].join("\n"));
process.exitCode = found.length ? 1 : 0;
