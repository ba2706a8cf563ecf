import { z } from 'zod';
import { refusesOtherKeys } from '../common/validation';
import { themeFile } from './definitions/app';
import { definitionFile } from './definitions/definition';
import { settingsFile } from './definitions/settings';
import { rulesFile } from './pages/rules';
import { shownShape } from './yaml-schema';

/** The YAML files of a theme, by the names of their JSON Schemas. */
const files: Record<string, { title: string; schema: z.core.$ZodType }> = {
  definition: { title: 'Definition of a block: blocks/<block_id>.yaml', schema: definitionFile.schema },
  settings: { title: 'Settings of an app: settings.yaml', schema: settingsFile.schema },
  theme: { title: 'What a theme says about itself: theme.yaml', schema: themeFile.schema },
  rules: { title: 'Rules of a theme: rules.yaml', schema: rulesFile },
};

/** JSON Schemas for editors of the YAML files of a theme, as text by file name. */
export function jsonSchemas(): Map<string, string> {
  return new Map(
    Object.entries(files).map(([name, { title, schema }]) => {
      // An empty file is valid, too.
      const { $schema, ...shape } = jsonSchema(schema);
      const whole = { $schema, title, anyOf: [shape, { type: 'null' }] };
      return [`${name}.json`, `${JSON.stringify(whole, withoutOtherKeys, 2)}\n`];
    }),
  );
}

function jsonSchema(schema: z.core.$ZodType): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(schema, {
    io: 'input',
    // Checks in code have no JSON Schema: any value is valid there.
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema: made }) {
      if (refusesOtherKeys(zodSchema)) made.not = {};
      const shape = shownShape(zodSchema);
      if (!shape) return;
      for (const key of Object.keys(made)) delete made[key];
      const { $schema: _, ...shown } = jsonSchema(shape);
      Object.assign(made, shown);
    },
  });
}

/** Writes `additionalProperties: {"not": {}}` in its usual form, `false`. */
function withoutOtherKeys(key: string, value: unknown): unknown {
  return key === 'additionalProperties' && JSON.stringify(value) === '{"not":{}}' ? false : value;
}
