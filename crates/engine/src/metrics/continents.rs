//! The continent of each country, by the English names that telemetry has (those of databases of addresses).

/// Continents with their countries and territories.
#[rustfmt::skip]
pub(super) static CONTINENTS: [(&str, &[&str]); 7] = [
    ("Africa", &[
        "Algeria", "Angola", "Benin", "Botswana", "Burkina Faso", "Burundi", "Cabo Verde", "Cape Verde", "Cameroon",
        "Central African Republic", "Chad", "Comoros", "Congo", "Congo Republic", "DR Congo", "Democratic Republic of the Congo",
        "Republic of the Congo", "Côte d'Ivoire", "Ivory Coast", "Djibouti", "Egypt", "Equatorial Guinea", "Eritrea", "Eswatini",
        "Swaziland", "Ethiopia", "Gabon", "Gambia", "The Gambia", "Ghana", "Guinea", "Guinea-Bissau", "Kenya", "Lesotho",
        "Liberia", "Libya", "Madagascar", "Malawi", "Mali", "Mauritania", "Mauritius", "Mayotte", "Morocco", "Mozambique",
        "Namibia", "Niger", "Nigeria", "Réunion", "Rwanda", "Saint Helena", "São Tomé and Príncipe", "Senegal", "Seychelles",
        "Sierra Leone", "Somalia", "South Africa", "South Sudan", "Sudan", "Tanzania", "Togo", "Tunisia", "Uganda",
        "Western Sahara", "Zambia", "Zimbabwe",
    ]),
    ("Antarctica", &[
        "Antarctica", "Bouvet Island", "French Southern Territories", "Heard and McDonald Islands",
        "South Georgia and the South Sandwich Islands",
    ]),
    ("Asia", &[
        "Afghanistan", "Armenia", "Azerbaijan", "Bahrain", "Bangladesh", "Bhutan", "British Indian Ocean Territory", "Brunei",
        "Brunei Darussalam", "Burma", "Cambodia", "China", "Georgia", "Hashemite Kingdom of Jordan", "Hong Kong",
        "Hong Kong SAR", "India", "Indonesia", "Iran", "Iraq", "Israel", "Japan", "Jordan", "Kazakhstan", "Korea", "Kuwait",
        "Kyrgyzstan", "Laos", "Lebanon", "Macao", "Macao SAR", "Macau", "Malaysia", "Maldives", "Mongolia", "Myanmar", "Nepal",
        "North Korea", "Oman", "Pakistan", "Palestine", "Palestinian Territories", "Philippines", "Qatar", "Republic of Korea",
        "Saudi Arabia", "Singapore", "South Korea", "Sri Lanka", "Syria", "Taiwan", "Tajikistan", "Thailand", "Timor-Leste",
        "Türkiye", "Turkey", "Turkmenistan", "United Arab Emirates", "Uzbekistan", "Vietnam", "Yemen",
    ]),
    ("Europe", &[
        "Åland Islands", "Albania", "Andorra", "Austria", "Belarus", "Belgium", "Bosnia and Herzegovina", "Bulgaria", "Croatia",
        "Cyprus", "Czech Republic", "Czechia", "Denmark", "Estonia", "Faroe Islands", "Finland", "France", "Germany",
        "Gibraltar", "Greece", "Guernsey", "Hungary", "Iceland", "Ireland", "Isle of Man", "Italy", "Jersey", "Kosovo", "Latvia",
        "Liechtenstein", "Lithuania", "Luxembourg", "Malta", "Moldova", "Monaco", "Montenegro", "Netherlands", "The Netherlands",
        "North Macedonia", "Norway", "Poland", "Portugal", "Romania", "Russia", "Russian Federation", "San Marino", "Serbia",
        "Slovakia", "Slovenia", "Spain", "Svalbard and Jan Mayen", "Sweden", "Switzerland", "Ukraine", "United Kingdom",
        "Vatican City",
    ]),
    ("North America", &[
        "Anguilla", "Antigua and Barbuda", "Aruba", "Bahamas", "The Bahamas", "Barbados", "Belize", "Bermuda",
        "Bonaire, Sint Eustatius, and Saba", "British Virgin Islands", "Canada", "Cayman Islands", "Costa Rica", "Cuba",
        "Curaçao", "Dominica", "Dominican Republic", "El Salvador", "Greenland", "Grenada", "Guadeloupe", "Guatemala", "Haiti",
        "Honduras", "Jamaica", "Martinique", "Mexico", "Montserrat", "Nicaragua", "Panama", "Puerto Rico", "Saint Barthélemy",
        "Saint Lucia", "Saint Martin", "Saint Pierre and Miquelon", "Saint Vincent and the Grenadines", "Sint Maarten",
        "St Kitts and Nevis", "Saint Kitts and Nevis", "Trinidad and Tobago", "Turks and Caicos Islands", "U.S. Virgin Islands",
        "United States", "United States of America",
    ]),
    ("Oceania", &[
        "American Samoa", "Australia", "Christmas Island", "Cocos (Keeling) Islands", "Cook Islands", "Fiji", "French Polynesia",
        "Guam", "Kiribati", "Marshall Islands", "Micronesia", "Federated States of Micronesia", "Nauru", "New Caledonia",
        "New Zealand", "Niue", "Norfolk Island", "Northern Mariana Islands", "Palau", "Papua New Guinea", "Pitcairn Islands",
        "Samoa", "Solomon Islands", "Tokelau", "Tonga", "Tuvalu", "U.S. Outlying Islands", "Vanuatu", "Wallis and Futuna",
    ]),
    ("South America", &[
        "Argentina", "Bolivia", "Brazil", "Chile", "Colombia", "Ecuador", "Falkland Islands", "French Guiana", "Guyana",
        "Paraguay", "Peru", "Suriname", "Uruguay", "Venezuela",
    ]),
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_country_is_in_one_continent() {
        let mut seen = HashSet::new();
        for country in CONTINENTS
            .iter()
            .flat_map(|(_, countries)| countries.iter())
        {
            assert!(seen.insert(country), "{country} is there twice");
        }
        assert!(seen.len() > 200);
    }
}
