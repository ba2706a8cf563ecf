/** What Strapi's environment says of a database of the benchmark. */
export const strapiEnvironment = (database) =>
  database.kind === 'sqlite'
    ? { DATABASE_CLIENT: 'sqlite', DATABASE_FILENAME: database.filename }
    : {
        DATABASE_CLIENT: 'postgres',
        DATABASE_HOST: database.host,
        DATABASE_PORT: String(database.port),
        DATABASE_USERNAME: database.user,
        DATABASE_PASSWORD: database.password,
        DATABASE_NAME: database.name,
      };
