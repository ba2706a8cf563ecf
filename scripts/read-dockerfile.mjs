import { DockerfileParser } from 'dockerfile-ast';
import { validate } from 'dockerfile-utils';

/** What must be a list in JSON: a command in another form has a shell between, which signals do not pass. */
function list(line, text = line.getArgumentsContent()) {
  try {
    const found = JSON.parse(text);
    if (Array.isArray(found)) return found;
  } catch {
    // A command for a shell.
  }
  throw new Error(`The form with a list is wanted: ${line}`);
}

/** What this repository's instructions say. */
const readers = {
  FROM: (line, [image]) => ({ image, name: line.getBuildStage() ?? 'last' }),
  WORKDIR: (_line, [path]) => ({ path }),
  ENV: (line) => ({
    values: Object.fromEntries(line.getProperties().map((property) => [property.getName(), property.getValue()])),
  }),
  COPY: (line, given) => ({
    from: line.getFromFlag()?.getValue(),
    sources: given.slice(0, -1),
    target: given.at(-1),
  }),
  RUN: (line) => ({ command: line.getArgumentsContent() }),
  USER: (_line, [name]) => ({ name }),
  EXPOSE: (_line, [port]) => ({ port: Number(port) }),
  VOLUME: (line) => ({ paths: list(line) }),
  STOPSIGNAL: (_line, [signal]) => ({ signal }),
  HEALTHCHECK: (line) => ({ command: list(line, line.getArgumentsContent().replace(/^.*?\bCMD\s+/s, '')) }),
  CMD: (line) => ({ command: list(line) }),
  ARG: (line) => ({ name: line.getProperty().getName(), value: line.getProperty().getValue() }),
};

/**
 * Reads the instructions of a Dockerfile that this repository's uses; throws for any other, and for what the parser finds wrong.
 * @returns for each instruction its name, its text and what it says
 */
export function readDockerfile(text) {
  const [problem] = validate(text);
  if (problem) throw new Error(`Dockerfile, line ${problem.range.start.line + 1}: ${problem.message}`);
  return DockerfileParser.parse(text)
    .getInstructions()
    .map((line) => {
      const name = line.getKeyword();
      const read = readers[name];
      if (!read) throw new Error(`This is no known instruction: ${line}`);
      const given = line.getExpandedArguments().map((argument) => argument.getValue());
      return { name, text: String(line), values: read(line, given) };
    });
}
