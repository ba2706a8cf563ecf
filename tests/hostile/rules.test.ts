import { expect, test } from 'vitest';
import { fuzzFiles } from '../rules/fuzz/apps';
import { fuzz } from '../rules/fuzz/run';
import { configured } from '../support/configure';
import { useStage, useThemes } from '../support/hooks';

/** The long form of `tests/rules/fuzz.test.ts`: `RULES_SEED=7 RULES_MINUTES=30 npx vitest run --project hostile rules`. */
const seed = Number(process.env.RULES_SEED ?? Date.now() % 1_000_000);
const minutes = Number(process.env.RULES_MINUTES ?? 5);

const themes = useThemes(fuzzFiles);
const limits = { formPosts: 1_000_000 };
const stage = useStage(() => ({
  themesDirectory: themes.directory,
  env: { TEST_LOGIC_TIME: '2000', ...configured({ apps: { limits } }) },
}));

test(
  `random requests of ${minutes} minutes store only what the rules of the blocks allow (seed ${seed})`,
  async () => {
    const end = performance.now() + minutes * 60_000;
    const counts = await fuzz(stage, seed, () => performance.now() < end);
    console.log(`Requests with seed ${seed}: ${JSON.stringify(counts)}`);
    for (const [way, { done, refused }] of Object.entries(counts))
      expect(Math.min(done, refused), way).toBeGreaterThan(0);
  },
  minutes * 60_000 + 60_000,
);
