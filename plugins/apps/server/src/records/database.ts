/** The narrow view of the host's database that a record store is made with; strapi-database.ts makes it for Strapi. */
export type { Client, HostDatabase, NearReader } from '../indexes';
