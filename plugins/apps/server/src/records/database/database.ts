/** The part of the host's database that a record store uses; strapi-database.ts implements it for Strapi. */
export type { Client, HostDatabase, ReadConnection } from '../../indexes';
